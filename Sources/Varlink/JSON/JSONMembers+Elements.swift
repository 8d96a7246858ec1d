/// Elements of an array, in the same way as members of an object.
extension JSONMembers {
    /// Writes the first element of the array, an integer.
    public mutating func firstElement(_ value: Int64) { write(value) }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int64) {
        append(",", "", "")
        write(value)
    }

    /// Many an element is a code of one digit, which needs no arithmetic.
    private mutating func write(_ value: Int64) {
        guard (0...9).contains(value) else { return append(value) }
        let start = unsafe place
        take(1)
        unsafe start.pointee = ASCII.zero &+ UInt8(truncatingIfNeeded: value)
    }

    /// Writes an element that is `null`.
    public mutating func elementNull() { append(",", "null", "") }

    /// Writes an element that is a string whose bytes are UTF-8.
    public mutating func element(utf8: Span<UInt8>) {
        append(",", "", "")
        append(quoting: utf8)
    }
}

extension JSONWriter {
    /// Writes elements, one at least, of so many bytes at most with their quotes and commas, as ``members(atMost:_:)`` does.
    public mutating func elements(atMost room: Int, _ body: (inout JSONMembers) -> Void) {
        members(atMost: room, body)
    }
}
