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

extension JSONScanner {
    /// Scans an object whose `{` stands at the position.
    mutating func scanObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONFailure) {
        let container = try open(.object, depth: depth)
        if try closes(bytes, with: ASCII.closeBrace) { return close(container) }
        try scanMembers(bytes, of: container, depth: depth)
    }

    /// Scans the members of an object, of which the first or a later one is named at the position, and its end.
    private mutating func scanMembers(_ bytes: Span<UInt8>, of container: Int, depth: Int) throws(JSONFailure) {
        repeat {
            try scanName(bytes)
            try scanValue(bytes, depth: depth + 1)
        } while try continues(bytes, until: ASCII.closeBrace)
        close(container)
    }

    /// Scans what follows a member of an object.
    @inline(__always)
    mutating func scanRest(_ bytes: Span<UInt8>, of container: Int, depth: Int) throws(JSONFailure) {
        guard try continues(bytes, until: ASCII.closeBrace) else { return close(container) }
        try scanMembers(bytes, of: container, depth: depth)
    }

    /// Scans an array whose `[` stands at the position.
    mutating func scanArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONFailure) {
        let container = try open(.array, depth: depth)
        if try closes(bytes, with: ASCII.closeBracket) { return close(container) }
        repeat {
            skipWhitespace(bytes)
            name = .none
            try scanValue(bytes, depth: depth + 1)
        } while try continues(bytes, until: ASCII.closeBracket)
        close(container)
    }

    /// Notes the name of a member and goes to its value.
    @inline(__always)
    private mutating func scanName(_ bytes: Span<UInt8>) throws(JSONFailure) {
        skipWhitespace(bytes)
        guard position < end, bytes[position] == ASCII.quote else { throw unexpected(bytes, at: position) }
        position &+= 1
        let start = position
        let isEscaped = try scanString(bytes)
        name = JSONNode.Name(start: start, end: position &- 1, isEscaped: isEscaped)
        skipWhitespace(bytes)
        guard position < end, bytes[position] == ASCII.colon else { throw unexpected(bytes, at: position) }
        position &+= 1
        skipWhitespace(bytes)
    }

    @inline(__always)
    private mutating func open(_ kind: JSONNode.Kind, depth: Int) throws(JSONFailure) -> Int {
        guard depth <= Self.depthLimit else { throw failure(.tooDeep(limit: Self.depthLimit), at: position) }
        append(kind, position..<position)
        position &+= 1
        return count &- 1
    }

    @inline(__always)
    private mutating func close(_ container: Int) {
        nodes[container].end = UInt32(truncatingIfNeeded: position)
        nodes[container].next = UInt32(truncatingIfNeeded: count)
    }

    /// Whether a container that was just opened is empty; its closing byte is read then.
    @inline(__always)
    private mutating func closes(_ bytes: Span<UInt8>, with closing: UInt8) throws(JSONFailure) -> Bool {
        skipWhitespace(bytes)
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        guard bytes[position] == closing else { return false }
        position &+= 1
        return true
    }

    /// Reads the comma after a value, or the byte that closes its container: false then.
    @inline(__always)
    mutating func continues(_ bytes: Span<UInt8>, until closing: UInt8) throws(JSONFailure) -> Bool {
        skipWhitespace(bytes)
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        let byte = bytes[position]
        guard byte == ASCII.comma || byte == closing else { throw unexpected(bytes, at: position) }
        position &+= 1
        return byte == ASCII.comma
    }
}

extension JSONScanner {
    /// Scans a string from behind its first quote to behind its last; tells whether it holds escapes.
    @inline(__always)
    mutating func scanString(_ bytes: Span<UInt8>) throws(JSONFailure) -> Bool {
        let index = skipPlain(bytes, from: position)
        guard index < end, bytes[index] == ASCII.quote else { return try scanRest(bytes, from: index) }
        position = index &+ 1
        return false
    }

    /// Scans what is left of a string from a byte on that is special; tells whether it holds escapes.
    @inline(never)
    private mutating func scanRest(_ bytes: Span<UInt8>, from start: Int) throws(JSONFailure) -> Bool {
        var index = start
        var isEscaped = false
        while true {
            index = skipPlain(bytes, from: index)
            guard index < end else { throw failure(.unexpectedEnd, at: end) }
            switch bytes[index] {
            case ASCII.quote:
                position = index &+ 1
                return isEscaped
            case ASCII.backslash:
                isEscaped = true
                index = try scanEscape(bytes, at: index)
            case 0x80...:
                index = try scanMultibyteScalar(bytes, at: index)
            case let control:
                throw failure(.controlCharacter(control), at: index)
            }
        }
    }

    @inline(__always)
    private func skipPlain(_ bytes: Span<UInt8>, from start: Int) -> Int {
        JSONString.skipPlain(bytes, in: start..<end)
    }

    /// Scans the escape whose backslash stands at the index, both of them where it is half of a surrogate pair.
    private func scanEscape(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> Int {
        guard index + 1 < end else { throw failure(.unexpectedEnd, at: end) }
        switch bytes[index + 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.lowerB, ASCII.lowerF, ASCII.lowerN, ASCII.lowerR,
            ASCII.lowerT:
            return index + 2
        case ASCII.lowerU:
            let unit = try scanCodeUnit(bytes, at: index)
            guard unit & 0xF800 == 0xD800 else { return index + 6 }
            guard unit < 0xDC00, index + 7 < end, bytes[index + 6] == ASCII.backslash,
                bytes[index + 7] == ASCII.lowerU,
                try scanCodeUnit(bytes, at: index + 6) & 0xFC00 == 0xDC00
            else { throw failure(.loneSurrogate, at: index) }
            return index + 12
        default:
            throw failure(.invalidEscape, at: index)
        }
    }

    /// The UTF-16 code unit that the `\uXXXX` at the index names.
    private func scanCodeUnit(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> UInt32 {
        var unit: UInt32 = 0
        for digit in index + 2..<index + 6 {
            guard digit < end else { throw failure(.unexpectedEnd, at: end) }
            guard let value = ASCII.hexadecimalValue(of: bytes[digit]) else {
                throw failure(.invalidEscape, at: index)
            }
            unit = unit << 4 | value
        }
        return unit
    }

    /// Checks one scalar of two to four bytes against RFC 3629, section 4, and returns the index behind it.
    private func scanMultibyteScalar(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> Int {
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[index] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw failure(.invalidUTF8, at: index)
        }
        guard index + length <= end, second.contains(bytes[index + 1]) else {
            throw failure(.invalidUTF8, at: index)
        }
        for next in index + 2..<index + length where bytes[next] & 0xC0 != 0x80 {
            throw failure(.invalidUTF8, at: index)
        }
        return index + length
    }
}

extension JSONString {
    /// The index of the first byte of a range that is not ASCII or cannot stand for itself in a string, or its end.
    @inline(__always)
    static func skipPlain(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int {
        var index = range.lowerBound
        while index &+ Word.size <= range.upperBound {
            if let first = Word(bytes, at: index).firstSpecial { return index &+ first }
            index &+= Word.size
        }
        while index < range.upperBound, bytes[index].isPlainASCII { index &+= 1 }
        return index
    }
}

extension UInt8 {
    /// Whether the byte is ASCII and can stand for itself in a JSON string.
    fileprivate var isPlainASCII: Bool {
        self >= ASCII.space && self < 0x80 && self != ASCII.quote && self != ASCII.backslash
    }
}

extension JSONScanner {
    /// Scans a number by the grammar of RFC 8259, section 6.
    mutating func scanNumber(_ bytes: Span<UInt8>) throws(JSONFailure) {
        let start = position
        let first = bytes[start] == ASCII.minus ? start &+ 1 : start
        var index = try skipDigits(bytes, from: first)
        guard bytes[first] != ASCII.zero || index == first &+ 1 else { throw failure(.invalidNumber, at: start) }
        var kind = JSONNode.Kind.integer
        if index < end, bytes[index] == ASCII.dot {
            kind = .fractional
            index = try skipDigits(bytes, from: index &+ 1)
        }
        if index < end, bytes[index] | 0x20 == ASCII.lowerE {
            kind = .fractional
            index &+= 1
            if index < end, bytes[index] == ASCII.plus || bytes[index] == ASCII.minus { index &+= 1 }
            index = try skipDigits(bytes, from: index)
        }
        position = index
        append(kind, start..<index)
    }

    /// The index behind the digits that stand here, of which there has to be one at least.
    @inline(__always)
    private func skipDigits(_ bytes: Span<UInt8>, from start: Int) throws(JSONFailure) -> Int {
        var index = start
        while index < end, ASCII.isDigit(bytes[index]) { index &+= 1 }
        guard index > start else {
            throw index < end ? failure(.invalidNumber, at: index) : failure(.unexpectedEnd, at: end)
        }
        return index
    }
}

/// One value of a scanned text: where it stands, and under which name.
///
/// The nodes of a text lie in one array in the order of the text, a container before what it holds, so that a member is
/// found and a nested object entered without reading the text again.
@usableFromInline
struct JSONNode: Sendable {
    /// What a value is.
    @usableFromInline
    enum Kind: UInt8, Sendable {
        case null
        case `true`
        case `false`
        /// A number without fraction and exponent.
        case integer
        /// A number with one of them, or both.
        case fractional
        /// A string whose bytes stand for themselves.
        case string
        /// A string that holds escapes.
        case escapedString
        case array
        case object
    }

    /// The name of a member: the bytes between its quotes. An element and the whole text have an empty one.
    @usableFromInline
    struct Name: Sendable {
        static let none = Name(start: 0, end: 0, isEscaped: false)

        @usableFromInline
        private(set) var start: UInt32
        @usableFromInline
        private(set) var end: UInt32
        /// Whether the name holds escapes.
        @usableFromInline
        let isEscaped: Bool

        /// The same name, so many bytes further on.
        @inline(__always)
        func moved(by distance: Int) -> Name {
            var moved = self
            moved.start &+= UInt32(truncatingIfNeeded: distance)
            moved.end &+= UInt32(truncatingIfNeeded: distance)
            return moved
        }

        @inline(__always)
        init(start: Int, end: Int, isEscaped: Bool) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.end = UInt32(truncatingIfNeeded: end)
            self.isEscaped = isEscaped
        }
    }

    @usableFromInline
    private(set) var name: Name
    @usableFromInline
    let kind: Kind
    /// The bytes of the value, those between the quotes where it is a string.
    @usableFromInline
    private(set) var start: UInt32
    @usableFromInline
    var end: UInt32
    /// The index of the first node that is not inside this one.
    @usableFromInline
    var next: UInt32

    @inline(__always)
    init(_ kind: Kind, named name: Name = .none, range: Range<Int>, next: Int) {
        self.name = name
        self.kind = kind
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
        self.next = UInt32(truncatingIfNeeded: next)
    }

    /// The same node, so many bytes further on.
    @inline(__always)
    func moved(by distance: Int) -> JSONNode {
        var moved = self
        moved.name = name.moved(by: distance)
        moved.start &+= UInt32(truncatingIfNeeded: distance)
        moved.end &+= UInt32(truncatingIfNeeded: distance)
        return moved
    }

    @inlinable
    var isEscaped: Bool { kind == .escapedString }
    @inlinable
    var isString: Bool { kind == .string || kind == .escapedString }
    var isNumber: Bool { kind == .integer || kind == .fractional }
    @inlinable
    var range: Range<Int> { Int(start)..<Int(end) }
    @inlinable
    var nameRange: Range<Int> { Int(name.start)..<Int(name.end) }
    /// The bytes of the value with the quotes that it may have.
    var textRange: Range<Int> { isString ? Int(start) - 1..<Int(end) + 1 : range }
}

/// The content of strings that a scanner has found valid.
@usableFromInline
enum JSONString {
    /// The text of a string with its escapes resolved.
    static func decode(_ bytes: [UInt8], in range: Range<Int>, isEscaped: Bool) -> String {
        isEscaped
            ? String(decoding: unescape(bytes, in: range), as: UTF8.self)
            : String(decoding: bytes[range], as: UTF8.self)
    }

    /// Whether the bytes of a range are these.
    @inlinable
    @inline(__always)
    static func equals(_ bytes: Span<UInt8>, in range: Range<Int>, _ name: Span<UInt8>) -> Bool {
        guard range.count == name.count else { return false }
        let start = range.lowerBound
        guard name.count >= Word.size else {
            var index = 0
            while index < name.count, bytes[start &+ index] == name[index] { index &+= 1 }
            return index == name.count
        }
        var index = 0
        while index &+ Word.size < name.count {
            guard Word(bytes, at: start &+ index) == Word(name, at: index) else { return false }
            index &+= Word.size
        }
        // The last word may overlap the one before it.
        index = name.count &- Word.size
        return Word(bytes, at: start &+ index) == Word(name, at: index)
    }

    /// The UTF-8 of a string with its escapes resolved.
    static func unescape(_ bytes: [UInt8], in range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == ASCII.backslash else {
                result.append(bytes[index])
                index += 1
                continue
            }
            index = appendEscape(bytes, at: index, to: &result)
        }
        return result
    }

    private static func appendEscape(_ bytes: [UInt8], at index: Int, to result: inout [UInt8]) -> Int {
        switch bytes[index + 1] {
        case ASCII.lowerU: return appendScalar(bytes, at: index, to: &result)
        case ASCII.lowerB: result.append(0x08)
        case ASCII.lowerF: result.append(0x0C)
        case ASCII.lowerN: result.append(ASCII.newline)
        case ASCII.lowerR: result.append(ASCII.carriageReturn)
        case ASCII.lowerT: result.append(ASCII.tab)
        case let itself: result.append(itself)
        }
        return index + 2
    }

    private static func appendScalar(_ bytes: [UInt8], at index: Int, to result: inout [UInt8]) -> Int {
        var code = codeUnit(bytes, at: index)
        var next = index + 6
        if code & 0xFC00 == 0xD800 {
            code = 0x10000 + ((code & 0x3FF) << 10) + (codeUnit(bytes, at: next) & 0x3FF)
            next += 6
        }
        if let scalar = Unicode.Scalar(code) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
        return next
    }

    private static func codeUnit(_ bytes: [UInt8], at index: Int) -> UInt32 {
        bytes[index + 2..<index + 6].reduce(0) { $0 << 4 | (ASCII.hexadecimalValue(of: $1) ?? 0) }
    }
}

/// The values of numbers that a scanner has found valid.
enum JSONNumber {
    /// As many digits never exceed 64 bits.
    private static let safeDigits = 18

    /// The value of a number without fraction and exponent, nil for any other and outside of 64 bits.
    static func integer(_ bytes: Span<UInt8>, _ node: JSONNode) -> Int64? {
        guard node.kind == .integer else { return nil }
        let isNegative = bytes[Int(node.start)] == ASCII.minus
        let digits = Int(node.start) &+ (isNegative ? 1 : 0)..<Int(node.end)
        guard digits.count <= safeDigits else { return longInteger(bytes, digits, isNegative: isNegative) }
        var value: Int64 = 0
        for index in digits { value = value &* 10 &+ Int64(bytes[index] &- ASCII.zero) }
        return isNegative ? -value : value
    }

    private static func longInteger(_ bytes: Span<UInt8>, _ digits: Range<Int>, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        for index in digits {
            let digit = Int64(bytes[index] &- ASCII.zero)
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            // Growing downwards when negative, as the least value has no positive counterpart.
            let (sum, overflowToo) =
                isNegative ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
            guard !overflow, !overflowToo else { return nil }
            value = sum
        }
        return value
    }

    /// The double nearest to a number, nil where that would be infinite.
    static func double(_ bytes: [UInt8], _ node: JSONNode) -> Double? {
        guard node.isNumber, let value = Double(String(decoding: bytes[node.range], as: UTF8.self)) else { return nil }
        return value.isFinite ? value : nil
    }
}

/// What a scanner has found in the beginning of an object whose first member holds nothing and whose second one is an
/// object with members: up to the value of the first of these. All places count from the beginning.
struct JSONBeginning {
    /// The nodes of the object and of its two members.
    private(set) var object = JSONNode(.object, range: 0..<0, next: 0)
    private(set) var first = JSONNode(.null, range: 0..<0, next: 0)
    private(set) var second = JSONNode(.object, range: 0..<0, next: 0)
    /// The name of the first member of the second one.
    private(set) var name = JSONNode.Name.none
    /// Where its value is to be found.
    private(set) var end = 0

    init() {}

    /// That of a text which was scanned.
    init(of nodes: [JSONNode], from start: Int, to end: Int) {
        object = nodes[0].moved(by: -start)
        first = nodes[1].moved(by: -start)
        second = nodes[2].moved(by: -start)
        name = nodes[3].name.moved(by: -start)
        self.end = end - start
    }
}

extension JSONScanner {
    /// Scans what is left of the outermost object behind a beginning that was found before.
    mutating func scanObject(_ bytes: Span<UInt8>, behind beginning: JSONBeginning) throws(JSONFailure) {
        append(beginning.object.moved(by: origin))
        append(beginning.first.moved(by: origin))
        append(beginning.second.moved(by: origin))
        name = beginning.name.moved(by: origin)
        position = origin &+ beginning.end
        skipWhitespace(bytes)
        try scanValue(bytes, depth: 3)
        try scanRest(bytes, of: 2, depth: 2)
        try scanRest(bytes, of: 0, depth: 1)
    }
}

/// Why a text is not the JSON that a Varlink message may hold.
public struct JSONFailure: Error, Equatable {
    /// What is wrong at the offset.
    public enum Reason: Equatable, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// A byte stands where the grammar of RFC 8259 allows none like it.
        case unexpectedByte(UInt8)
        /// Something other than whitespace follows the value.
        case trailingBytes
        /// The value is well-formed as far as it was read, but no object.
        case notAnObject
        /// A byte below 0x20 stands unescaped in a string.
        case controlCharacter(UInt8)
        /// A backslash is followed by none of the escapes of RFC 8259.
        case invalidEscape
        /// A `\u` escape names one half of a surrogate pair without the other.
        case loneSurrogate
        /// The bytes of a string are not UTF-8 as RFC 3629 has it.
        case invalidUTF8
        /// A number is not of the form of RFC 8259.
        case invalidNumber
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text is longer than offsets of 32 bits reach.
        case tooLong
    }

    /// The index of the offending byte, counted from the start of the text.
    public let offset: Int
    /// What is wrong there.
    public let reason: Reason

    /// A failure at an offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}
