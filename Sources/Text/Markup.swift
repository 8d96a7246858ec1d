/// Text in the markup of Pango and of desktop notifications.
public enum Markup {
    /// The text with entities for the characters that would be markup; with quotes, it can stand in an attribute.
    public static func escape(_ text: String, quotes: Bool = true) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;".unicodeScalars
            case "<": result += "&lt;".unicodeScalars
            case ">": result += "&gt;".unicodeScalars
            case "\"" where quotes: result += "&quot;".unicodeScalars
            case "'" where quotes: result += "&#39;".unicodeScalars
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
