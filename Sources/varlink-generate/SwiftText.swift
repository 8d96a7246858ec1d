import VarlinkDefinition

/// Swift source that is written line by line, with the line breaks of swift-format.
struct SwiftText {
    private static let width = 120
    private(set) var text = ""
    private var depth = 0

    private func fits(_ line: String) -> Bool { 4 * depth + line.count <= Self.width }

    /// Adds a line.
    mutating func line(_ line: String) { text += String(repeating: " ", count: 4 * depth) + line + "\n" }

    /// Adds an empty line, but not at the beginning of a block.
    mutating func space() {
        if !text.hasSuffix("{\n"), !text.hasSuffix("\n\n") { text += "\n" }
    }

    /// Adds lines inside of braces, which follow the head.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line("\(head) {")
        self.body(body)
    }

    /// Adds lines inside of a brace that is there, and closes it.
    mutating func body(_ body: (inout SwiftText) -> Void) {
        indented(body)
        line("}")
    }

    /// Adds a switch, whose cases are not indented.
    mutating func switching(_ value: String, _ body: (inout SwiftText) -> Void) {
        line("switch \(value) {")
        body(&self)
        line("}")
    }

    /// Adds lines that are indented.
    mutating func indented(_ body: (inout SwiftText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Adds a constant that is an array.
    mutating func list(_ head: String, _ elements: [String]) {
        let one = "\(head) [\(elements.joined(separator: ", "))]"
        guard !fits(one) else { return line(one) }
        line("\(head) [")
        indented { text in
            for element in elements { text.line("\(element),") }
        }
        line("]")
    }

    /// Adds a constant that is a text of several lines.
    mutating func literal(_ head: String, _ literal: String) {
        var marks = ""
        while literal.contains("\"\"\"\(marks)") || literal.contains("\\\(marks)") { marks += "#" }
        line("\(head) \(marks)\"\"\"")
        indented { text in
            for part in literal.split(separator: "\n", omittingEmptySubsequences: false) {
                if part.isEmpty { text.text += "\n" } else { text.line(String(part)) }
            }
            text.line("\"\"\"\(marks)")
        }
    }

    /// Adds a block that is a line if it fits: a head and an expression.
    mutating func short(_ head: String, _ body: String) {
        guard !fits("\(head) { \(body) }") else { return line("\(head) { \(body) }") }
        block(head) { $0.line(body) }
    }

    /// Adds a declaration with parameters, one line each if they do not fit in one. The tail ends the line of the bracket.
    mutating func parameters(_ head: String, _ parameters: [String], _ tail: String) {
        let one = "\(head)(\(parameters.joined(separator: ", ")))\(tail)"
        guard !fits(one) else { return line(one) }
        line("\(head)(")
        indented { text in
            for (index, parameter) in parameters.enumerated() {
                text.line(index + 1 < parameters.count ? "\(parameter)," : parameter)
            }
        }
        line(")\(tail)")
    }

    /// Adds a statement with arguments behind a head, or below it if it does not fit.
    mutating func value(_ head: String, _ statement: String, _ arguments: [String]) {
        let one = arguments.isEmpty ? statement : "\(statement)(\(arguments.joined(separator: ", ")))"
        guard !fits("\(head) \(one)") else { return line("\(head) \(one)") }
        line(head)
        indented { $0.parameters(statement, arguments, "") }
    }

    /// Adds a closure with an expression of parts, between which an operator stands.
    mutating func closure(_ head: String, _ parts: [String], _ separator: String) {
        let one = "\(head) { \(parts.joined(separator: " \(separator) ")) }"
        guard !fits(one) else { return line(one) }
        block(head) { text in
            var current = ""
            var isFirst = true
            for part in parts {
                let longer = current.isEmpty ? part : "\(current) \(separator) \(part)"
                if text.fits(isFirst ? longer : "    \(longer)") || current.isEmpty {
                    current = longer
                } else {
                    text.line(isFirst ? current : "    \(current)")
                    isFirst = false
                    current = "\(separator) \(part)"
                }
            }
            text.line(isFirst ? current : "    \(current)")
        }
    }

    /// Adds a comment before a declaration.
    mutating func documentation(_ parts: [Comment.Part]) {
        var isAfterItem = false
        for (index, part) in parts.enumerated() {
            switch part {
            case .paragraph(let text):
                if index > 0 { line("///") }
                wrap(text, first: "/// ", others: "/// ")
                isAfterItem = false
            case .item(let text):
                if index > 0, !isAfterItem { line("///") }
                wrap(text, first: "/// - ", others: "///   ")
                isAfterItem = true
            }
        }
    }

    private mutating func wrap(_ text: String, first: String, others: String) {
        var current = first
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, !fits("\(current) \(word)") {
                line(current)
                (current, isEmpty) = (others, true)
            }
            current += isEmpty ? String(word) : " \(word)"
            isEmpty = false
        }
        line(current)
    }
}
