/// Splits the text of a definition into words and punctuation marks.
struct DefinitionLexer {
    /// A word or a punctuation mark.
    struct Token {
        let text: String
        let place: Definition.Place
        /// The lines of the comment directly above, without `#`.
        let comments: [String]
    }

    private var tokens: [Token] = []
    private var index = 0
    /// Comments behind tokens, by their lines.
    private(set) var trailingComments: [Int: String] = [:]
    /// The place of the end.
    private(set) var end = Definition.Place(line: 1, column: 1)

    init(_ text: String) throws(DefinitionFault) {
        var comments: [String] = []
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() where line.last == UInt8(ascii: "\r") { lines[number].removeLast() }
        for (number, line) in lines.enumerated() {
            let before = tokens.count
            let comment = try scan(line, number + 1, &comments)
            switch (tokens.count > before, comment) {
            case (false, let comment?): comments.append(comment)
            case (true, let comment?): trailingComments[number + 1] = comment
            case (false, nil): comments = []
            case (true, nil): break
            }
        }
        end = Definition.Place(line: lines.count, column: (lines.last?.count ?? 0) + 1)
    }

    /// The next token; nil at the end.
    var peek: Token? { index < tokens.count ? tokens[index] : nil }

    /// Takes the next token; nil at the end.
    mutating func next() -> Token? {
        guard let token = peek else { return nil }
        index += 1
        return token
    }

    /// Adds the tokens of a line, of which the first gets the comments above. Returns the comment on the line.
    private mutating func scan(
        _ line: Substring.UTF8View,
        _ number: Int,
        _ comments: inout [String]
    ) throws(DefinitionFault) -> String? {
        var rest = line
        while let byte = rest.first {
            let place = Definition.Place(line: number, column: line.count - rest.count + 1)
            let length: Int
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                rest = rest.dropFirst()
                continue
            case UInt8(ascii: "#"):
                let text = rest.dropFirst()
                return String(decoding: text.first == UInt8(ascii: " ") ? text.dropFirst() : text, as: UTF8.self)
            case _ where Self.isWord(byte): length = Self.wordLength(rest)
            case UInt8(ascii: "-") where rest.dropFirst().first == UInt8(ascii: ">"): length = 2
            case _ where "?:,()[]".utf8.contains(byte): length = 1
            default:
                let character = Substring(rest).first.map(String.init) ?? ""
                throw DefinitionFault("unexpected '\(character)'", at: place)
            }
            let text = String(decoding: rest.prefix(length), as: UTF8.self)
            tokens.append(Token(text: text, place: place, comments: comments))
            comments = []
            rest = rest.dropFirst(length)
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// The length of a word. A hyphen inside belongs to it.
    private static func wordLength(_ text: Substring.UTF8View) -> Int {
        var length = 0
        var previous: UInt8 = 0
        for byte in text {
            guard isWord(byte) || byte == UInt8(ascii: "-") else { break }
            length += 1
            previous = byte
        }
        return previous == UInt8(ascii: "-") ? length - 1 : length
    }
}
