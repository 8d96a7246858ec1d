/// Text for bars that read `%{…}` as a tag and know no way to write it as such.
enum TagText {
    /// Takes no room, and no line is broken at it: WORD JOINER.
    private static let divider: Unicode.Scalar = "\u{2060}"

    /// The text as such, to stand behind another one and before anything: what would begin a tag is divided.
    static func escape(_ text: String, behind before: String) -> String {
        var result = String.UnicodeScalarView()
        var last = before.unicodeScalars.last
        for scalar in text.unicodeScalars {
            if last == "%", scalar == "{" { result.append(divider) }
            result.append(scalar)
            last = scalar
        }
        if last == "%", !text.isEmpty { result.append(divider) }
        return String(result)
    }
}
