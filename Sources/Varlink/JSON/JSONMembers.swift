/// Room for members of an object: what is written is known to be short enough.
///
/// A ``JSONWriter`` looks for each name and each value whether there is room and whether the bytes are its own. Where many
/// members follow each other that are numbers and words, as in a countdown, it does so once for all of them, and each of
/// them is a few stores: see ``JSONWriter/members(atMost:_:)``.
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

    /// The most bytes that a string takes of which there are so many bytes of UTF-8.
    @inlinable
    public static func room(forString bytes: Int) -> Int { 6 &* bytes &+ 2 }

    /// Writes the first member of the object, a string whose bytes are UTF-8.
    @inlinable
    @inline(__always)
    public mutating func first(_ name: StaticString, utf8: Span<UInt8>) {
        append("\"", name, "\":")
        append(quoting: utf8)
    }

    /// Writes the first member of the object, a word that has no characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func first(_ name: StaticString, word: StaticString) {
        append("\"", name, "\":\"")
        append("", word, "\"")
    }

    /// Writes a member that is a string whose bytes are UTF-8.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, utf8: Span<UInt8>) {
        append(",\"", name, "\":")
        append(quoting: utf8)
    }

    /// Begins a member that is an object; its members follow, the first one first.
    @inlinable
    @inline(__always)
    public mutating func openObject(_ name: StaticString) { append(",\"", name, "\":{") }

    /// Ends the object that was begun last.
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

    /// Writes a member that is a word, which has no characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, word: StaticString) {
        append(",\"", name, "\":\"")
        append("", word, "\"")
    }

    /// Writes a member that is an integer, none where there is no value.
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
    /// Writes members, one at least, of so many bytes at most with their names, quotes, commas and colons; an integer counts
    /// as 20, whatever it is, and a string as ``JSONMembers/room(forString:)``.
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
