/// Room for members of an object, behind another member of it: what is written is known to be short enough.
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

    /// Writes a member that is a value of an enumeration, whose raw values have no characters that need escapes.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: some RawRepresentable<String>) {
        append(name)
        append(literal: "\"")
        var word = value.rawValue
        word.withUTF8 { word in
            take(word.count)
            unsafe ByteBuffer.copy(word.baseAddress, word.count, to: place - word.count)
        }
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
    /// Writes members that follow another, of so many bytes at most with their names, quotes, commas and colons; an integer
    /// counts as 20, whatever it is.
    @inlinable
    @inline(__always)
    public mutating func members(atMost room: Int, _ body: (inout JSONMembers) -> Void) {
        precondition(needsComma, "a member stands before")
        unsafe buffer.write(room) { start in
            var members = unsafe JSONMembers(from: start, room: room)
            body(&members)
            return unsafe members.place - start
        }
    }
}
