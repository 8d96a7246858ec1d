/// How many columns of a terminal text takes: East Asian wide characters and emoji two, marks that combine none. Terminals
/// differ in a few characters, so a picture must not depend on it to stay in its lines: `FramePainter` turns wrapping off.
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
        let scalars = character.unicodeScalars
        return isEmoji(scalars) ? 2 : scalars.reduce(0) { $0 + of($1) }
    }

    /// Whether the scalars are one picture: an emoji with its selectors, modifiers, joined emoji or tags, a keycap, or the
    /// two letters of a flag.
    private static func isEmoji(_ scalars: Character.UnicodeScalarView) -> Bool {
        guard let first = scalars.first, scalars.count > 1 else { return false }
        let isJoined = scalars.contains { $0 == "\u{200D}" || $0.properties.isEmojiModifier }
        return scalars.contains("\u{FE0F}") || first.properties.isEmojiPresentation
            || first.properties.isEmoji && isJoined
    }

    /// As wcwidth(3) of the GNU C library: a mark that has a space of its own takes a column.
    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if 0x20..<0x7F ~= scalar.value { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control: return 0
        case .format: return isVisibleFormat(scalar) ? 1 : 0
        default: break
        }
        switch scalar.value {
        // Vowels and final consonants of Hangul Jamo, which are drawn in the syllable before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        // Half of a flag.
        case 0x1_F1E6...0x1_F1FF: return 1
        default: return scalar.properties.isEmojiPresentation || wide.contains { $0 ~= scalar.value } ? 2 : 1
        }
    }

    /// Whether a format character is drawn: the soft hyphen, and the signs that stand around numbers in Arabic, Syriac and
    /// Kaithi.
    private static func isVisibleFormat(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x600...0x605, 0x6DD, 0x70F, 0x890...0x891, 0x8E2, 0x1_10BD, 0x1_10CD: true
        default: false
        }
    }

    /// The ranges of wide and fullwidth characters in UAX #11 as the GNU C library has them, with unassigned ones; emoji come
    /// from the standard library.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul Jamo, leading consonants
        0x2329...0x232A,  // angle brackets
        0x2E80...0x303E,  // CJK radicals, Kangxi, CJK symbols and punctuation
        0x3041...0x33FF,  // kana, bopomofo, compatibility
        0x3400...0x9FFF,  // CJK unified ideographs and, between them, hexagrams
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
