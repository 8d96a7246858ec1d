extension OutputSpan<UInt8> {
    /// Appends all the bytes of a span, for which there has to be room.
    @inline(__always)
    mutating func append(copying source: Span<UInt8>) {
        precondition(source.count <= freeCapacity, "the bytes have to fit")
        unsafe source.withUnsafeBytes { unsafe append(copying: $0) }
    }

    /// Appends the bytes of a span from an index on, for which there has to be room.
    @inline(__always)
    mutating func append(copying source: RawSpan, from start: Int) {
        precondition(source.byteCount &- start <= freeCapacity, "the bytes have to fit")
        unsafe source.extracting(start...).withUnsafeBytes { unsafe append(copying: $0) }
    }

    /// Appends the name of a member with its quotes and the colon behind it, after a comma where one is needed.
    @inline(__always)
    mutating func append(name: StaticString, separated: Bool) {
        if separated { append(ASCII.comma) }
        append(ASCII.quote)
        append(literal: name)
        append(ASCII.quote)
        append(ASCII.colon)
    }

    /// Appends a literal as it is.
    @inline(__always)
    mutating func append(literal: StaticString) {
        precondition(literal.utf8CodeUnitCount <= freeCapacity, "the bytes have to fit")
        literal.withUTF8Buffer { unsafe append(copying: UnsafeRawBufferPointer($0)) }
    }

    /// Appends bytes that need no escapes, with quotes.
    @inline(__always)
    mutating func append(quoting plain: Span<UInt8>) {
        append(ASCII.quote)
        append(copying: plain)
        append(ASCII.quote)
    }

    /// Appends bytes that fit, as the caller has checked.
    @inline(__always)
    @unsafe
    private mutating func append(copying source: UnsafeRawBufferPointer) {
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            guard let target = buffer.baseAddress, let bytes = source.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(target + count).copyMemory(from: bytes, byteCount: source.count)
            count &+= source.count
        }
    }
}
