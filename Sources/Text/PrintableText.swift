/// Text that other people chose (a key, a label, a path, what a program printed), written so that a reader sees every
/// character of it and a terminal obeys none.
///
/// The rule: a character that has no picture of its own is written as an escape, `\u{200b}`, and a backslash is doubled,
/// so that no text can pretend to be an escape. Two different texts never look alike because of a character that nobody
/// can see. These have no picture of their own:
/// - control characters, of which `\n`, `\r` and `\t` have short escapes, and line and paragraph separators;
/// - what Unicode calls default-ignorable: zero-width spaces and joiners, soft hyphens, marks that set, embed, override
///   or isolate a direction, fillers, variation selectors, tags;
/// - noncharacters such as U+FFFF, and the marks of annotations U+FFF9 to U+FFFB.
///
/// Spaces of any width are seen as gaps and stay. Private characters stay, because the fonts of status bars use them.
/// Two kinds of invisible characters stay if they change how their neighbours look, because people write them:
/// - in emoji: a variation selector after an emoji or in a keycap, a joiner between two emoji (a family, a profession,
///   a flag), and the tags that spell the flag of England, Scotland or Wales behind a black flag. Other tags are written
///   as escapes, because they can spell any text, and fonts have no other flag of a region;
/// - in scripts whose letters join (U+0600 to U+0DFF, from Arabic to Sinhala): a joiner or non-joiner between two
///   letters, as in Persian می‌خواهم.
public enum PrintableText {
    /// The text with escapes for the characters that cannot be seen. With `doublesBackslashes` false, for text that is
    /// not compared with other text (the output of a command), a backslash stays single.
    public static func escape(_ text: String, doublesBackslashes: Bool = true) -> String {
        replacing(text, doublesBackslashes: doublesBackslashes, spelled)
    }

    /// The text with something else in the place of each character that cannot be seen, such as a space. Backslashes
    /// stay.
    public static func replacing(_ text: String, _ replacement: (Unicode.Scalar) -> String) -> String {
        replacing(text, doublesBackslashes: false, replacement)
    }

    /// Whether `escape` returns the text unchanged.
    public static func isPrintable(_ text: String) -> Bool { escape(text) == text }

    private static func replacing(
        _ text: String,
        doublesBackslashes: Bool,
        _ replacement: (Unicode.Scalar) -> String
    ) -> String {
        let isPlain = text.utf8.allSatisfy { 0x20..<0x7F ~= $0 && (!doublesBackslashes || $0 != UInt8(ascii: "\\")) }
        guard !isPlain else { return text }
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\\", doublesBackslashes {
                result += "\\\\".unicodeScalars
            } else if isVisible(scalar) || joinsNeighbours(scalars, index) {
                result.append(scalar)
            } else {
                result += replacement(scalar).unicodeScalars
            }
        }
        return String(result)
    }

    private static func spelled(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16))}"
        }
    }

    /// Whether the character has a picture of its own, or is seen as a gap.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: return true
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x2029, 0xFFF9...0xFFFB: return false
        default:
            let properties = scalar.properties
            return !properties.isDefaultIgnorableCodePoint && !properties.isNoncharacterCodePoint
        }
    }

    /// Whether the character at a place is an invisible one that changes how the characters beside it look.
    private static func joinsNeighbours(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        guard index > 0 else { return false }
        let before = scalars[index - 1]
        let after: Unicode.Scalar? = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalars[index].value {
        case 0xFE0E, 0xFE0F:
            // Digits, # and * are emoji in keycaps only.
            return isEmoji(before) || before.properties.isEmoji && after == "\u{20E3}"
        case 0x200D:
            guard let after else { return false }
            let isAfterEmoji = isEmoji(before) || before == "\u{FE0F}" && index > 1 && isEmoji(scalars[index - 2])
            return isAfterEmoji && isEmoji(after) || isJoiningLetter(before) && isJoiningLetter(after)
        case 0x200C: return isJoiningLetter(before) && after.map(isJoiningLetter) == true
        case 0xE0000...0xE007F: return flags.contains { isPart(index, of: $0, in: scalars) }
        default: return false
        }
    }

    /// The flags of regions that Unicode recommends: a black flag, the letters of the region as tags, and the end of the tags.
    private static let flags = ["gbeng", "gbsct", "gbwls"].map { region in
        ["\u{1F3F4}"] + region.unicodeScalars.compactMap { Unicode.Scalar(0xE0000 + $0.value) } + ["\u{E007F}"]
    }

    /// Whether the character at a place is one of a flag's that is there as a whole.
    private static func isPart(_ index: Int, of flag: [Unicode.Scalar], in scalars: [Unicode.Scalar]) -> Bool {
        let places = (0..<flag.count).map { index - $0 }
        return places.contains { $0 >= 0 && scalars[$0...].starts(with: flag) }
    }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { scalar.value > 0x7F && scalar.properties.isEmoji }

    /// Whether the character is a letter, or a mark on one, of a script whose letters join.
    private static func isJoiningLetter(_ scalar: Unicode.Scalar) -> Bool {
        guard 0x0600...0x0DFF ~= scalar.value else { return false }
        switch scalar.properties.generalCategory {
        case .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark: return true
        default: return false
        }
    }
}
