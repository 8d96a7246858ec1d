/// Writes JSON without whitespace.
///
/// Members are written into the innermost open object, elements into the innermost open array. ``object(_:)``,
/// ``member(_:object:)`` and ``array(_:_:)`` open one for the time of their closures.
public struct JSONWriter: Sendable {
    /// A copy of everything that was written.
    public var bytes: [UInt8] { buffer.bytes }
    @usableFromInline
    var buffer: ByteBuffer
    /// Whether the innermost container has a value already.
    @usableFromInline
    var needsComma = false

    /// A writer without content.
    public init() { buffer = ByteBuffer() }

    /// The number of bytes that were written.
    public var count: Int { buffer.count }

    /// Writes an object as a whole value.
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        separate()
        open(ASCII.openBrace)
        body(&self)
        close(ASCII.closeBrace)
    }

    /// Writes an array as a whole value.
    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        separate()
        open(ASCII.openBracket)
        body(&self)
        close(ASCII.closeBracket)
    }

    /// Ends a text; another one follows on the next line. A text has no line breaks, since they are escaped in strings.
    public mutating func endLine() {
        buffer.append(ASCII.newline)
        needsComma = false
    }

    /// Removes everything that was written, and keeps the memory.
    public mutating func removeAll() {
        buffer.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Whether the writer is empty.
    public var isEmpty: Bool { buffer.count == 0 }

    /// Lends everything that was written to the body.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(buffer.storage.span.extracting(first: buffer.count))
    }
}

extension JSONWriter {
    @inlinable
    @inline(__always)
    mutating func open(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = false
    }

    @inlinable
    @inline(__always)
    mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    /// Writes a comma if the innermost container has a value already.
    mutating func separate() {
        if needsComma { buffer.append(ASCII.comma) }
        needsComma = true
    }

    /// Writes the name of a member and the colon behind it.
    @inlinable
    @inline(__always)
    mutating func write(name: StaticString) {
        buffer.append(name: name, separated: needsComma)
        needsComma = true
    }

    /// Writes a name that is not a literal and may need escapes.
    mutating func write(name: String) {
        separate()
        write(name)
        buffer.append(ASCII.colon)
    }

    @inlinable
    @inline(__always)
    mutating func write(_ value: Bool) {
        if value { buffer.append(literal: "true") } else { buffer.append(literal: "false") }
    }

    @usableFromInline
    mutating func write(_ value: Int64) {
        buffer.append(value)
    }
}

extension JSONWriter {
    /// Writes a member that is a string.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: String) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a string, given in UTF-8.
    @inlinable
    public mutating func member(_ name: StaticString, utf8: Span<UInt8>) {
        write(name: name)
        write(utf8: utf8)
    }

    /// Writes a member that is an integer.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: Int64) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is an integer.
    public mutating func member(_ name: StaticString, _ value: Int) {
        member(name, Int64(value))
    }

    /// Writes a member that is a truth value.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: Bool) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a value of an enumeration.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: some RawRepresentable<String>) {
        member(name, value.rawValue)
    }

    /// Writes a member that is an object.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: some JSONEncodable) {
        member(name, object: { value.encode(into: &$0) })
    }

    /// Writes a member that is an array of objects.
    @inlinable
    public mutating func member(_ name: StaticString, _ values: [some JSONEncodable]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is an array of strings.
    public mutating func member(_ name: StaticString, _ values: [String]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is an array of values of an enumeration.
    @inlinable
    public mutating func member(_ name: StaticString, _ values: [some RawRepresentable<String>]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is a map from strings to strings, in the order of its keys.
    public mutating func member(_ name: StaticString, _ map: [String: String]) {
        member(name, object: { $0.write(map) })
    }

    /// Writes the members of a map.
    mutating func write(_ map: [String: String]) {
        for (key, value) in map.sorted(by: { $0.key < $1.key }) { member(named: key, value) }
    }

    /// Writes a member that is a map from strings to integers, in the order of its keys.
    public mutating func member(_ name: StaticString, _ map: [String: Int64]) {
        member(
            name,
            object: { writer in
                for (key, value) in map.sorted(by: { $0.key < $1.key }) { writer.member(named: key, value) }
            }
        )
    }

    /// Writes a member that is an object, whose members the closure writes.
    @inlinable
    public mutating func member(_ name: StaticString, object body: (inout JSONWriter) -> Void) {
        write(name: name)
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes a member that is an array, whose elements the closure writes.
    @inlinable
    public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        write(name: name)
        open(UInt8(ascii: "["))
        body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes a member whose value is JSON text.
    public mutating func member(_ name: StaticString, raw json: [UInt8]) {
        write(name: name)
        buffer.append(json)
    }

    /// Writes a member whose value is JSON text and whose name is not a literal.
    public mutating func member(named name: String, raw json: [UInt8]) {
        write(name: name)
        buffer.append(json)
    }

    /// Writes a member that is a string and whose name is not a literal.
    public mutating func member(named name: String, _ value: String) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is an integer and whose name is not a literal.
    public mutating func member(named name: String, _ value: Int64) {
        write(name: name)
        write(value)
    }
}

extension JSONWriter {
    /// Writes a member that is a string, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an integer, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a truth value, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: Bool?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a value of an enumeration, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: (some RawRepresentable<String>)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an object, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: (some JSONEncodable)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a map from strings to strings, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: [String: String]?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an array, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [String]?) {
        if let values { member(name, values) }
    }

    /// Writes a member that is an array, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [some RawRepresentable<String>]?) {
        if let values { member(name, values) }
    }

    /// Writes a member that is an array, or nothing if there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [some JSONEncodable]?) {
        if let values { member(name, values) }
    }
}

extension JSONWriter {
    /// Writes an element that is a string.
    public mutating func element(_ value: String) {
        separate()
        write(value)
    }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int64) {
        separate()
        write(value)
    }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int) { element(Int64(value)) }

    /// Writes an element that is a truth value.
    public mutating func element(_ value: Bool) {
        separate()
        write(value)
    }

    /// Writes an element that is `null`.
    public mutating func elementNull() {
        separate()
        buffer.append(literal: "null")
    }

    /// Writes an element that is a map from strings to strings, in the order of its keys.
    public mutating func element(_ map: [String: String]) { object { $0.write(map) } }

    /// Writes an element that is a value of an enumeration.
    @inlinable
    public mutating func element(_ value: some RawRepresentable<String>) { element(value.rawValue) }

    /// Writes an element that is an object.
    @inlinable
    public mutating func element(_ value: some JSONEncodable) {
        object { value.encode(into: &$0) }
    }

    /// Writes an element that is JSON text.
    public mutating func element(raw json: [UInt8]) {
        separate()
        buffer.append(json)
    }
}

extension JSONWriter {
    /// Writes a string in quotes, with only the escapes that RFC 8259 requires.
    @usableFromInline
    mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { unsafe write(utf8: $0.span) }
    }

    /// Writes a string, given in UTF-8, in quotes.
    @usableFromInline
    mutating func write(utf8: Span<UInt8>) {
        guard utf8.isPlain else { return writeEscaped(utf8) }
        buffer.append(quoting: utf8)
    }

    /// Writes a string that needs escapes, in quotes.
    mutating func writeEscaped(_ utf8: Span<UInt8>) {
        buffer.append(ASCII.quote)
        for index in utf8.indices { writeEscaped(utf8[index]) }
        buffer.append(ASCII.quote)
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case ASCII.quote, ASCII.backslash: buffer.append(contentsOf: [ASCII.backslash, byte])
        case 0x08: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerB])
        case 0x0C: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerF])
        case ASCII.newline: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerN])
        case ASCII.carriageReturn: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerR])
        case ASCII.tab: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerT])
        case 0..<ASCII.space: writeUnicodeEscape(byte)
        default: buffer.append(byte)
        }
    }

    private mutating func writeUnicodeEscape(_ byte: UInt8) {
        let digits = Array("0123456789abcdef".utf8)
        buffer.append(contentsOf: "\\u00".utf8)
        buffer.append(digits[Int(byte >> 4)])
        buffer.append(digits[Int(byte & 0xF)])
    }
}

extension Span<UInt8> {
    /// Whether none of these bytes of UTF-8 needs an escape in a JSON string.
    var isPlain: Bool {
        guard count >= EightBytes.size else {
            for index in indices where !Self.isPlain(self[index]) { return false }
            return true
        }
        var index = 0
        while index &+ EightBytes.size < count {
            guard EightBytes(self, at: index).isPlain else { return false }
            index &+= EightBytes.size
        }
        // The last word may overlap the one before it.
        return EightBytes(self, at: count &- EightBytes.size).isPlain
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= ASCII.space && byte != ASCII.quote && byte != ASCII.backslash
    }
}

/// Members that are written into memory that was reserved for all of them.
///
/// A ``JSONWriter`` checks for room, and for unique ownership of its memory, with each name and each value. For a run of
/// members of bounded size, as in a countdown, ``JSONWriter/members(atMost:_:)`` checks once, and each member is a few stores.
@safe
public struct JSONMembers: ~Copyable {
    @usableFromInline
    var place: UnsafeMutablePointer<UInt8>
    @usableFromInline
    let end: UnsafeMutablePointer<UInt8>

    @usableFromInline
    @unsafe
    init(from start: UnsafeMutablePointer<UInt8>, room: Int) {
        unsafe place = start
        unsafe end = start + room
    }

    /// The most bytes that a string of the given length in UTF-8 takes.
    @inlinable
    public static func room(forString bytes: Int) -> Int { 6 &* bytes &+ 2 }

    /// Writes the first member of the object, a string given in UTF-8.
    @inlinable
    @inline(__always)
    public mutating func first(_ name: StaticString, utf8: Span<UInt8>) {
        append("\"", name, "\":")
        append(quoting: utf8)
    }

    /// Writes the first member of the object, a string without characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func first(_ name: StaticString, word: StaticString) {
        append("\"", name, "\":\"")
        append("", word, "\"")
    }

    /// Writes a member that is a string, given in UTF-8.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, utf8: Span<UInt8>) {
        append(",\"", name, "\":")
        append(quoting: utf8)
    }

    /// Begins a member that is an object; its first member follows.
    @inlinable
    @inline(__always)
    public mutating func openObject(_ name: StaticString) { append(",\"", name, "\":{") }

    /// Ends the innermost object.
    @inlinable
    @inline(__always)
    public mutating func closeObject() { append("", "}", "") }

    /// Writes a member that is an integer.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Int64) {
        append(",\"", name, "\":")
        append(value)
    }

    /// Writes a member that is a truth value.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Bool) {
        if value { append(",\"", name, "\":true") } else { append(",\"", name, "\":false") }
    }

    /// Writes a member that is a string without characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, word: StaticString) {
        append(",\"", name, "\":\"")
        append("", word, "\"")
    }

    /// Writes a member that is an integer, or nothing if there is no value.
    @inlinable
    @inline(__always)
    public mutating func memberIfPresent(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    /// Writes three literals, one after the other.
    @inlinable
    @inline(__always)
    mutating func append(_ first: StaticString, _ second: StaticString, _ third: StaticString) {
        let start = unsafe place
        let behind = first.utf8CodeUnitCount &+ second.utf8CodeUnitCount
        take(behind &+ third.utf8CodeUnitCount)
        unsafe ByteBuffer.copy(first.utf8Start, first.utf8CodeUnitCount, to: start)
        unsafe ByteBuffer.copy(second.utf8Start, second.utf8CodeUnitCount, to: start + first.utf8CodeUnitCount)
        unsafe ByteBuffer.copy(third.utf8Start, third.utf8CodeUnitCount, to: start + behind)
    }

    @usableFromInline
    mutating func append(quoting utf8: Span<UInt8>) {
        guard utf8.isPlain else { return appendEscaped(utf8) }
        let start = unsafe place
        take(utf8.count &+ 2)
        unsafe start.pointee = ASCII.quote
        unsafe utf8.withUnsafeBytes { unsafe ByteBuffer.copy($0.baseAddress, $0.count, to: start + 1) }
        unsafe start[utf8.count &+ 1] = ASCII.quote
    }

    private mutating func appendEscaped(_ utf8: Span<UInt8>) {
        var writer = JSONWriter()
        writer.writeEscaped(utf8)
        let bytes = writer.bytes
        take(bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe ByteBuffer.copy($0.baseAddress, $0.count, to: place - $0.count) }
    }

    @usableFromInline
    mutating func append(_ value: Int64) {
        let start = unsafe place
        take(Decimal.capacity)
        unsafe place = start + Decimal.write(value, to: start)
    }

    @inlinable
    @inline(__always)
    mutating func take(_ length: Int) {
        precondition(unsafe end - place >= length, "there is room for what is written")
        unsafe place += length
    }
}

extension JSONWriter {
    /// Writes at least one member into the given number of bytes, which includes names, quotes, commas and colons. Count 20
    /// bytes for any integer, and ``JSONMembers/room(forString:)`` for a string.
    @inlinable
    @inline(__always)
    public mutating func members(atMost room: Int, _ body: (inout JSONMembers) -> Void) {
        needsComma = true
        unsafe buffer.write(room) { start in
            var members = unsafe JSONMembers(from: start, room: room)
            body(&members)
            return unsafe members.place - start
        }
    }
}

/// Elements of an array, written in the same way.
extension JSONMembers {
    /// Writes the first element of the array, an integer.
    public mutating func firstElement(_ value: Int64) { write(value) }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int64) {
        append(",", "", "")
        write(value)
    }

    /// Many elements are codes of one digit, which need no arithmetic.
    private mutating func write(_ value: Int64) {
        guard (0...9).contains(value) else { return append(value) }
        let start = unsafe place
        take(1)
        unsafe start.pointee = ASCII.zero &+ UInt8(truncatingIfNeeded: value)
    }

    /// Writes an element that is `null`.
    public mutating func elementNull() { append(",", "null", "") }

    /// Writes an element that is a string, given in UTF-8.
    public mutating func element(utf8: Span<UInt8>) {
        append(",", "", "")
        append(quoting: utf8)
    }
}

extension JSONWriter {
    /// Writes at least one element into the given number of bytes, as ``members(atMost:_:)`` does.
    public mutating func elements(atMost room: Int, _ body: (inout JSONMembers) -> Void) {
        members(atMost: room, body)
    }
}
