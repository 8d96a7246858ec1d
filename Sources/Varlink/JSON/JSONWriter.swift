/// Appends JSON to bytes, without whitespace.
///
/// Members are written into the object that is open, elements into the array that is open; the closures of
/// ``object(_:)``, ``member(_:object:)`` and their like write into the one that they open.
public struct JSONWriter: Sendable {
    /// All that was written, and what it was appended to.
    public var bytes: [UInt8] { buffer.bytes }
    @usableFromInline
    var buffer: ByteBuffer
    /// Whether a value stands before the next one in the container that is open.
    @usableFromInline
    var needsComma = false

    /// A writer that begins with nothing.
    public init() { buffer = ByteBuffer() }

    /// A writer that appends to bytes that are there.
    public init(appendingTo bytes: consuming [UInt8]) { buffer = ByteBuffer(bytes) }

    /// How many bytes were written, with those that were appended to.
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

    /// Ends a text: what is written next is another one, on a line of its own. No text has a line break in it, as a string's
    /// are escaped.
    public mutating func endLine() {
        buffer.append(ASCII.newline)
        needsComma = false
    }

    /// Forgets all that was written, and keeps the memory.
    public mutating func removeAll() {
        buffer.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Whether nothing was written.
    public var isEmpty: Bool { buffer.count == 0 }

    /// Calls the body with all that was written.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(buffer.storage.span.extracting(first: buffer.count))
    }

    /// Appends bytes as they are: no comma is put before them, and none is expected after them.
    public mutating func appendRaw(_ json: [UInt8]) { buffer.append(json) }
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

    /// Puts the comma before a value, where it needs one; the one after it will.
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

    /// Writes a name that is not known beforehand, and may have to be escaped.
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

    mutating func write(_ value: Double) {
        precondition(value.isFinite, "JSON has no infinite numbers")
        buffer.append(contentsOf: value.description.utf8)
    }

    @usableFromInline
    mutating func write(_ value: Int64) {
        buffer.append(value)
    }
}
