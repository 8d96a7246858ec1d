/// How many columns of a terminal text takes: East Asian wide characters and emoji two, marks that combine none.
enum DisplayWidth {
    static func of(_ text: some StringProtocol) -> Int {
        if let ascii = text.utf8.withContiguousStorageIfAvailable({ bytes in
            unsafe bytes.allSatisfy { 0x20..<0x7F ~= $0 } ? bytes.count : nil
        }), let ascii {
            return ascii
        }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The longest prefix of at most `columns`.
    static func prefix(_ text: String, columns: Int) -> String {
        var left = columns
        return String(
            text.prefix { character in
                left -= of(character)
                return left >= 0
            }
        )
    }

    private static func of(_ character: Character) -> Int {
        // A character with the emoji variation selector is drawn as an emoji.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return character.unicodeScalars.reduce(0) { max($0, of($1)) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if 0x20..<0x7F ~= scalar.value { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        return scalar.properties.isEmojiPresentation || wide.contains { $0 ~= scalar.value } ? 2 : 1
    }

    /// The ranges of wide and fullwidth characters in UAX #11, with unassigned ones; emoji come from the standard library.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul Jamo, leading consonants
        0x2329...0x232A,  // angle brackets
        0x2E80...0x303E,  // CJK radicals, Kangxi, CJK symbols and punctuation
        0x3041...0x3247,  // kana, bopomofo, compatibility, without circled numbers on squares
        0x3250...0x33FF,
        0x3400...0x4DBF,
        0x4E00...0x9FFF,  // CJK unified ideographs
        0xA000...0xA4CF,  // Yi
        0xA960...0xA97F,
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,
        0xFE10...0xFE19,
        0xFE30...0xFE6F,
        0xFF01...0xFF60,  // fullwidth forms
        0xFFE0...0xFFE6,
        0x1_6FE0...0x1_8DFF,  // Tangut
        0x1_AFF0...0x1_B2FF,  // kana supplements
        0x1_F200...0x1_F265,
        0x2_0000...0x3_FFFD,  // further ideographs
    ]
}

/// The characters that pictures are drawn with.
enum Glyphs {
    /// For terminals with a UTF-8 locale.
    case blocks
    /// For other terminals, and for consoles with few characters in their fonts.
    case ascii

    /// Chosen by the locale and the terminal in the environment.
    init(environment: (String) -> String?) {
        // In the order of setlocale(3).
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        let isUnicode = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        // The fonts of the kernel's console have no more than 512 characters.
        self = isUnicode && environment("TERM") != "linux" ? .blocks : .ascii
    }

    /// The text, cut with a mark at its end if it is wider than `columns`.
    func fit(_ text: String, columns: Int) -> String {
        guard DisplayWidth.of(text) > columns else { return text }
        let mark = self == .ascii ? "~" : "…"
        return columns > 0 ? DisplayWidth.prefix(text, columns: columns - 1) + mark : ""
    }
}
