import Text

/// A word of a command as a shell takes it.
enum ShellWord {
    /// The word unchanged, in single quotes if a shell would expand or split it, or in `$'…'` if it holds characters
    /// that cannot be seen: they are written as escapes, and bash, zsh and ksh read the same word again.
    static func quote(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        guard PrintableText.escape(word, doublesBackslashes: false) == word else { return "$'\(dollarQuoted(word))'" }
        return "'\(word.substituting("'\\''", for: "'"))'"
    }

    private static func dollarQuoted(_ word: String) -> String {
        let escaped = word.substituting("\\\\", for: "\\").substituting("\\'", for: "'")
        return PrintableText.replacing(escaped) { scalar in
            scalar.value > 0xFFFF ? "\\U\(hexadecimal(scalar.value, 8))" : "\\u\(hexadecimal(scalar.value, 4))"
        }
    }

    /// ASCII letters and digits.
    static let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8

    private static func isPlain(_ byte: UInt8) -> Bool {
        alphanumerics.contains(byte) || "+-_./:,@%=".utf8.contains(byte)
    }
}
