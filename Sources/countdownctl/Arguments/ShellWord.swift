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

/// Splits a command line into words: at spaces outside of single and double quotes. A backslash takes the next character
/// literally, except in single quotes. Variables and patterns are not expanded.
enum CommandLineText {
    /// - Throws: a usage error if a quote is unmatched or there is no word.
    static func words(_ text: String, of option: String = "--exec") throws(CommandFailure) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", quote != "'" {
                guard let next = rest.popFirst() else {
                    throw .usage("invalid \(option) \(quoted(text)): trailing backslash")
                }
                word = (word ?? "") + String(next)
            } else if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let ended = word { words.append(ended) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw .usage("invalid \(option) \(quoted(text)): unmatched quote") }
        if let word { words.append(word) }
        guard words.first?.isEmpty == false else {
            throw .usage("\(option) needs a command, such as 'notify-send Tea'")
        }
        return words
    }
}
