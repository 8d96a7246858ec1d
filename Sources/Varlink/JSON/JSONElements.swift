/// Reads the elements of an array in one pass, from the first to the last, whatever each of them is.
///
/// What is read is what was asked for, or nil; either way the next element comes next. Where the text is no array, or has
/// fewer elements than are asked for, all further ones are nil, and ``isWhole`` tells at the end.
public struct JSONElements: Sendable {
    /// As many digits never exceed 64 bits.
    private static let safeDigits = 18

    private let text: [UInt8]
    private var scanner: JSONScanner
    private var state = State.open

    private enum State {
        /// An element has to come.
        case open
        /// The bracket that closes the array has been read.
        case closed
        case broken
    }

    /// - Parameters:
    ///   - bytes: of which the range is the text: one array, and whitespace at most.
    ///   - range: of the text.
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        text = bytes
        scanner = JSONScanner(range: range, reusing: [])
        scanner.skipWhitespace(bytes.span)
        guard scanner.position < scanner.end, bytes[scanner.position] == ASCII.openBracket else {
            state = .broken
            return
        }
        scanner.position += 1
        scanner.skipWhitespace(bytes.span)
    }

    /// Whether there is one more element, or something that is none.
    public var hasMore: Bool { state == .open }

    /// Whether the text was an array of the elements that were read, and nothing else.
    public var isWhole: Bool {
        guard state == .closed else { return false }
        if scanner.position == scanner.end { return true }
        var rest = scanner
        rest.skipWhitespace(text.span)
        return rest.position == rest.end
    }

    /// An integer: a number of 64 bits, signed, without fraction and exponent.
    public mutating func integer() -> Int64? {
        if let integer = digits() { return integer }
        return value { JSONNumber.integer($0.span, $1[0]) }
    }

    /// A string, read where it stands, or in a copy of it where it holds escapes.
    public mutating func withString<Result>(_ body: (UTF8Span) -> Result?) -> Result? {
        let bytes = text
        guard state == .open, scanner.position < scanner.end, bytes[scanner.position] == ASCII.quote else {
            // Whatever else it is.
            return value { _, _ in nil }
        }
        let start = scanner.position + 1
        scanner.position = start
        guard let isEscaped = try? scanner.scanString(bytes.span) else { return fail() }
        let range = start..<scanner.position - 1
        guard goOn() else { return nil }
        guard !isEscaped else { return body(JSONString.decode(bytes, in: range, isEscaped: true).utf8Span) }
        // What a scanner has found valid is UTF-8.
        return body(unsafe UTF8Span(unchecked: bytes.span.extracting(range)))
    }

    /// A string, a copy of it.
    public mutating func string() -> String? { withString { String(copying: $0) } }

    /// A map from strings to strings.
    public mutating func stringMap() -> [String: String]? {
        value { JSONObject(bytes: $0, nodes: $1, index: 0).stringMap(at: 0) }
    }

    /// Whether the next element is `null`, which is read then.
    public mutating func takeNull() -> Bool {
        let end = scanner.position + 4
        guard state == .open, end <= scanner.end, text[scanner.position..<end].elementsEqual("null".utf8) else {
            return false
        }
        scanner.position = end
        return goOn()
    }

    // MARK: Reading

    /// The value of an integer as it is written most often: up to 18 digits, between which and the comma is nothing.
    @inline(__always)
    private mutating func digits() -> Int64? {
        guard state == .open else { return nil }
        let bytes = text
        let span = bytes.span
        let (start, limit) = (scanner.position, min(scanner.end, scanner.position + Self.safeDigits))
        var value: Int64 = 0
        var place = start
        while place < limit {
            let digit = span[place] &- ASCII.zero
            guard digit <= 9 else { break }
            value = value &* 10 &+ Int64(digit)
            place += 1
        }
        let isNumber = place == start + 1 || place > start && span[start] != ASCII.zero
        guard isNumber, place < scanner.end, span[place] == ASCII.comma || span[place] == ASCII.closeBracket else {
            return nil
        }
        scanner.position = place
        return goOn() ? value : nil
    }

    /// Reads a value of any kind; the body is given the bytes of the text, and the nodes of the value.
    private mutating func value<Result>(_ body: ([UInt8], [JSONNode]) -> Result?) -> Result? {
        guard state == .open else { return fail() }
        let bytes = text
        scanner.count = 0
        scanner.name = .none
        guard (try? scanner.scanValue(bytes.span, depth: 2)) != nil else { return fail() }
        let result = body(bytes, scanner.nodes)
        return goOn() ? result : nil
    }

    private mutating func fail<Result>() -> Result? {
        state = .broken
        return nil
    }

    /// Reads what follows an element, and goes to the next one.
    @inline(__always)
    private mutating func goOn() -> Bool {
        let bytes = text
        guard let continues = try? scanner.continues(bytes.span, until: ASCII.closeBracket) else {
            state = .broken
            return false
        }
        if continues { scanner.skipWhitespace(bytes.span) } else { state = .closed }
        return true
    }
}
