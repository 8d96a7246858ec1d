/// Validates a text in one pass and notes where its values are.
///
/// It accepts RFC 8259 and nothing else: no byte order mark, no comments, no trailing commas. Stricter than the RFC
/// demands are two rules of Varlink peers: strings are UTF-8 without lone surrogates, and nesting is limited.
struct JSONScanner {
    /// How deep objects and arrays may be nested, the outermost counted.
    static let depthLimit = 64

    /// The next byte to read.
    var position: Int
    /// The first byte that is no longer part of the text.
    let end: Int
    /// Where the text begins: failures count from here.
    let origin: Int
    /// The values found so far, and behind them what may be left of another text.
    var nodes: [JSONNode]
    /// How many values were found so far.
    var count = 0
    /// The name of the value that is scanned next.
    var name = JSONNode.Name.none

    /// A scanner for a part of some bytes, which fills an array that may have been used before.
    init(range: Range<Int>, reusing nodes: consuming [JSONNode]) {
        position = range.lowerBound
        origin = range.lowerBound
        end = range.upperBound
        self.nodes = nodes
    }

    @inline(never)
    func failure(_ reason: JSONFailure.Reason, at index: Int) -> JSONFailure {
        JSONFailure(offset: index - origin, reason: reason)
    }

    /// The failure for a byte that does not belong where it is, or for the end of the text.
    @inline(never)
    func unexpected(_ bytes: Span<UInt8>, at index: Int) -> JSONFailure {
        index < end ? failure(.unexpectedByte(bytes[index]), at: index) : failure(.unexpectedEnd, at: end)
    }

    /// Scans the whole text, which has to be one object, where it is not known already what it begins with.
    mutating func scanObjectText(_ bytes: Span<UInt8>, behind beginning: JSONBeginning? = nil) throws(JSONFailure) {
        guard end <= Int(UInt32.max) else { throw failure(.tooLong, at: origin) }
        skipWhitespace(bytes)
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        let start = position
        if let beginning { try scanObject(bytes, behind: beginning) } else { try scanValue(bytes, depth: 1) }
        skipWhitespace(bytes)
        guard position == end else { throw failure(.trailingBytes, at: position) }
        guard nodes[0].kind == .object else { throw failure(.notAnObject, at: start) }
    }

    /// Moves on to the next byte that is not whitespace; most often that is the next byte.
    @inline(__always)
    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        if position < end, bytes[position] <= ASCII.space { skipRun(bytes) }
    }

    private mutating func skipRun(_ bytes: Span<UInt8>) {
        while position < end {
            switch bytes[position] {
            case ASCII.space, ASCII.tab, ASCII.newline, ASCII.carriageReturn: position += 1
            default: return
            }
        }
    }

    /// Scans one value that starts at the position, and appends its node with the name that is noted.
    mutating func scanValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONFailure) {
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        switch bytes[position] {
        case ASCII.quote: try scanStringValue(bytes)
        case ASCII.minus, ASCII.zero...ASCII.nine: try scanNumber(bytes)
        case ASCII.openBrace: try scanObject(bytes, depth: depth)
        case ASCII.openBracket: try scanArray(bytes, depth: depth)
        case ASCII.lowerT: try scanLiteral(bytes, "true", .true)
        case ASCII.lowerF: try scanLiteral(bytes, "false", .false)
        case ASCII.lowerN: try scanLiteral(bytes, "null", .null)
        default: throw unexpected(bytes, at: position)
        }
    }

    /// Appends the node of a value that holds no other.
    @inline(__always)
    mutating func append(_ kind: JSONNode.Kind, _ range: Range<Int>) {
        append(JSONNode(kind, named: name, range: range, next: count &+ 1))
    }

    @inline(__always)
    mutating func append(_ node: JSONNode) {
        // Written over where there is one: to empty the array for each text takes longer.
        if count < nodes.count { nodes[count] = node } else { nodes.append(node) }
        count &+= 1
    }

    @inline(__always)
    private mutating func scanStringValue(_ bytes: Span<UInt8>) throws(JSONFailure) {
        position &+= 1
        let start = position
        let isEscaped = try scanString(bytes)
        append(isEscaped ? .escapedString : .string, start..<position &- 1)
    }

    private mutating func scanLiteral(
        _ bytes: Span<UInt8>,
        _ literal: String,
        _ kind: JSONNode.Kind
    ) throws(JSONFailure) {
        let start = position
        for byte in literal.utf8 {
            guard position < end, bytes[position] == byte else { throw unexpected(bytes, at: position) }
            position += 1
        }
        append(kind, start..<position)
    }
}
