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
        append(literal: "\"")
        append(literal: name)
        append(literal: "\":")
        append(quoting: utf8)
    }

    /// Writes the first member of the object, a word that has no characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func first(_ name: StaticString, word: StaticString) {
        append(literal: "\"")
        append(literal: name)
        append(literal: "\":\"")
        append(literal: word)
        append(literal: "\"")
    }

    /// Writes a member that is an integer.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Int64) {
        append(name)
        append(value)
    }

    /// Writes a member that is a truth value.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Bool) {
        append(name)
        if value { append(literal: "true") } else { append(literal: "false") }
    }

    /// Writes a member that is a word, which has no characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, word: StaticString) {
        append(name)
        append(literal: "\"")
        append(literal: word)
        append(literal: "\"")
    }

    /// Writes a member that is an integer, none where there is no value.
    @inlinable
    @inline(__always)
    public mutating func memberIfPresent(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    @inlinable
    @inline(__always)
    mutating func append(_ name: StaticString) {
        append(literal: ",\"")
        append(literal: name)
        append(literal: "\":")
    }

    @inlinable
    @inline(__always)
    mutating func append(literal: StaticString) {
        let length = literal.utf8CodeUnitCount
        take(length)
        unsafe ByteBuffer.copy(literal.utf8Start, length, to: place - length)
    }

    @usableFromInline
    mutating func append(quoting utf8: Span<UInt8>) {
        guard utf8.isPlain else { return appendEscaped(utf8) }
        append(literal: "\"")
        take(utf8.count)
        unsafe utf8.withUnsafeBytes { unsafe ByteBuffer.copy($0.baseAddress, $0.count, to: place - $0.count) }
        append(literal: "\"")
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
    /// Writes members of so many bytes at most, with their names, quotes, commas and colons; an integer counts as 20,
    /// whatever it is, and a string as ``JSONMembers/room(forString:)``.
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
