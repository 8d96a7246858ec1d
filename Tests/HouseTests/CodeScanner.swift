/// Swift source without its comments and string literals: spaces stand for them, so that lines and columns stay.
func codeAlone(of text: String) -> String {
    var scanner = CodeScanner(text)
    scanner.skipCode(endedByParenthesis: false)
    return String(decoding: scanner.output, as: UTF8.self)
}

/// One pass over the bytes of a source file. What stands in an interpolation is code again.
private struct CodeScanner {
    private let input: [UInt8]
    private(set) var output: [UInt8]
    private var position = 0

    init(_ text: String) {
        input = Array(text.utf8)
        output = input
    }

    /// Goes to the end, or past the parenthesis that closes an interpolation.
    mutating func skipCode(endedByParenthesis: Bool) {
        var depth = 0
        while position < input.count {
            if stands("//") {
                blank(upTo: input[position...].firstIndex(of: UInt8(ascii: "\n")) ?? input.count)
            } else if stands("/*") {
                blankBlockComment()
            } else if let fence = fenceOfLiteral() {
                blankLiteral(fence: fence)
            } else {
                if stands("(") { depth += 1 }
                if stands(")") { depth -= 1 }
                position += 1
                if endedByParenthesis, depth < 0 { return }
            }
        }
    }

    private func stands(_ text: String, at place: Int? = nil) -> Bool {
        input[(place ?? position)...].starts(with: text.utf8)
    }

    private mutating func blank(upTo end: Int) {
        for place in position..<min(end, input.count) where input[place] != UInt8(ascii: "\n") {
            output[place] = UInt8(ascii: " ")
        }
        position = min(end, input.count)
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if stands("/*") { depth += 1 }
            if stands("*/") { depth -= 1 }
            blank(upTo: position + (stands("/*") || stands("*/") ? 2 : 1))
        } while depth > 0 && position < input.count
    }

    /// The number signs and quotation marks that begin a string literal here, if one does.
    private func fenceOfLiteral() -> (signs: String, quotes: String)? {
        let count = input[position...].prefix { $0 == UInt8(ascii: "#") }.count
        guard stands("\"", at: position + count) else { return nil }
        let quotes = stands("\"\"\"", at: position + count) ? "\"\"\"" : "\""
        return (String(repeating: "#", count: count), quotes)
    }

    private mutating func blankLiteral(fence: (signs: String, quotes: String)) {
        let escape = "\\" + fence.signs
        blank(upTo: position + fence.signs.utf8.count + fence.quotes.utf8.count)
        while position < input.count {
            if stands(fence.quotes + fence.signs) {
                return blank(upTo: position + fence.quotes.utf8.count + fence.signs.utf8.count)
            }
            if stands(escape + "(") {
                blank(upTo: position + escape.utf8.count + 1)
                skipCode(endedByParenthesis: true)
            } else {
                blank(upTo: position + (stands(escape) ? escape.utf8.count + 1 : 1))
            }
        }
    }
}
