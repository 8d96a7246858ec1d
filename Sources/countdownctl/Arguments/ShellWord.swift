import Text

/// A word of a command as a shell takes it.
enum ShellWord {
    /// The word unchanged, in single quotes if a shell would expand or split it, or in `$'…'` if it holds characters
    /// that cannot be seen: they are written as escapes, and bash, zsh and ksh read the same word again.
    static func quote(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        guard PrintableText.escape(word, doublesBackslashes: false) == word else { return "$'\(dollarQuoted(word))'" }
        return "'\(replacing(["'": "'\\''"], in: word))'"
    }

    private static func dollarQuoted(_ word: String) -> String {
        let escaped = replacing(["\\": "\\\\", "'": "\\'"], in: word)
        return PrintableText.replacing(escaped) { scalar in
            scalar.value > 0xFFFF ? "\\U\(hexadecimal(scalar.value, 8))" : "\\u\(hexadecimal(scalar.value, 4))"
        }
    }

    /// Looks at scalars, because a quote with a combining mark behind it is another character.
    private static func replacing(_ escapes: [Unicode.Scalar: String], in word: String) -> String {
        word.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }

    /// ASCII letters and digits.
    static let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8

    private static func isPlain(_ byte: UInt8) -> Bool {
        alphanumerics.contains(byte) || "+-_./:,@%=".utf8.contains(byte)
    }
}
