import Text

/// A word of a command as a shell takes it.
enum ShellWord {
    /// The word unchanged, in single quotes if a shell would expand or split it, or in `$'…'` if it holds characters
    /// that cannot be seen: they are written as escapes, and bash, zsh and ksh read the same word again.
    static func quote(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        guard isPrintable(word) else { return "$'\(dollarQuoted(word))'" }
        return "'\(word.substituting("'\\''", for: "'"))'"
    }

    private static func isPrintable(_ word: String) -> Bool {
        PrintableText.escape(word, doublesBackslashes: false) == word
    }

    private static func dollarQuoted(_ word: String) -> String {
        let escaped = word.substituting("\\\\", for: "\\").substituting("\\'", for: "'")
        return PrintableText.replacing(escaped) { scalar in
            let digits = String(scalar.value, radix: 16)
            let width = scalar.value > 0xFFFF ? 8 : 4
            return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "+-_./:,@%=".utf8.contains(byte)
        }
    }
}
