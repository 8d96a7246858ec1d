import Testing

/// The messages of clients and the daemon in docs/protocol.md.
struct DocumentTranscript: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        case call(connection: String, TranscriptMessage)
        case reply(connection: String, TranscriptMessage)
        case leaving(connection: String)
        case closing(connection: String)
        case restart

        /// The message; empty if the line has none.
        var text: String {
            switch self {
            case .call(_, let message), .reply(_, let message): message.text
            case .leaving, .closing, .restart: ""
            }
        }
    }

    let steps: [Step]

    struct Unreadable: Error {
        let line: Substring
    }

    /// Reads a transcript; an indented line continues the line before it.
    init(_ text: Substring) throws {
        steps = try text.replacing(#/\n +/#, with: "").split(separator: "\n").map(Self.step)
    }

    var testDescription: String { String(steps.first?.text.prefix(80) ?? "") }

    private static func step(_ line: Substring) throws -> Step {
        if line == "! the daemon is killed and started again" { return .restart }
        if let told = line.wholeMatch(of: #/! the daemon closes (\w+)/#) { return .closing(connection: String(told.1)) }
        if let told = line.wholeMatch(of: #/! (\w+) leaves/#) { return .leaving(connection: String(told.1)) }
        guard let said = line.wholeMatch(of: #/(\w+) ([<>]) (.+)/#) else { throw Unreadable(line: line) }
        let message = TranscriptMessage(text: String(said.3))
        return said.2 == ">" ? .call(connection: String(said.1), message) : .reply(connection: String(said.1), message)
    }
}

/// A message with placeholders for values.
struct TranscriptMessage: Sendable {
    let text: String

    /// The message with the values of its placeholders.
    func filled(with values: [String: String]) -> String {
        text.replacing(#/<(\w+)>/#) { values[String($0.1)] ?? String($0.0) }
    }

    /// Whether this message was received; a placeholder that occurs for the first time takes its value from it.
    func matches(_ told: String, values: inout [String: String]) -> Bool {
        var pattern = text[...]
        var rest = told[...]
        while let placeholder = pattern.firstMatch(of: #/<(\w+)>|…/#) {
            let literal = pattern[..<placeholder.range.lowerBound]
            guard rest.hasPrefix(literal) else { return false }
            rest = rest.dropFirst(literal.count)
            let value = Self.firstValue(of: rest)
            guard !value.isEmpty else { return false }
            rest = rest[value.endIndex...]
            pattern = pattern[placeholder.range.upperBound...]
            guard let name = placeholder.1.map(String.init) else { continue }
            guard values[name, default: String(value)] == value else { return false }
            values[name] = String(value)
        }
        return rest == pattern
    }

    /// The JSON value at the beginning of the text; empty if there is none.
    private static func firstValue(of text: Substring) -> Substring {
        var depth = 0
        var isString = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isString {
                if character == "\"", !isEscaped { isString = false }
                isEscaped = character == "\\" && !isEscaped
                continue
            }
            switch character {
            case "\"": isString = true
            case "{", "[": depth += 1
            case "}", "]", ",":
                if depth == 0 { return text[..<index] }
                if character != "," { depth -= 1 }
            default: break
            }
        }
        return text[text.endIndex...]
    }
}
