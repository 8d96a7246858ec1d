/// A command in one text, as the words that it has: between spaces, whole in single or double quotes, any character
/// as such behind a backslash, which means itself in single quotes. Nothing is expanded.
enum CommandLineText {
    /// - Throws: that a quote has no end, or that there is no word.
    static func words(_ text: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", quote != "'" {
                guard let next = rest.popFirst() else {
                    throw .usage("a command ends with a backslash: \(quoted(text))")
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
        guard quote == nil else { throw .usage("a quote in the command has no end: \(quoted(text))") }
        if let word { words.append(word) }
        guard words.first?.isEmpty == false else {
            throw .usage("--exec takes a command, such as 'notify-send {label}'")
        }
        return words
    }
}
