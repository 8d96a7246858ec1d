import Text

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
