/// Text that others chose, as it may be shown on a terminal: what would command the terminal, break the line or turn
/// its direction is written as an escape, `\n` or `\u{1b}`, that can be seen.
enum PrintableText {
    static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) { result += spelled(scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0..<0x20, 0x7F...0x9F: true
        // Line and paragraph separators, and the marks that embed, override and isolate directions.
        case 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func spelled(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
}
