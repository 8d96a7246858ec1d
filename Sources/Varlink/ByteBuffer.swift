import Glibc

/// Bytes in memory of its own, which grows at its end.
///
/// A piece is written with one check for room. Literals are written by code that is inlined at the call, also in other
/// modules: there a literal is a few stores.
///
/// Memory safety: only this type has the address of the memory, which lives as long as the value does. Each write says how
/// many bytes it takes at most, and the memory has room for them before its body runs.
@safe
@usableFromInline
struct ByteBuffer: ~Copyable {
    /// The least capacity that is allocated.
    private static let leastCapacity = 256

    /// The content, and free space behind it. The address is nil until something is allocated.
    @usableFromInline
    private(set) var memory = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    /// The number of bytes of the content.
    @usableFromInline
    private(set) var count = 0

    @inlinable
    deinit { deallocate() }

    /// The size of the memory in bytes.
    var capacity: Int { unsafe memory.count }

    /// A copy of the content.
    var bytes: [UInt8] { unsafe Array(memory[..<count]) }

    /// Lends the content from an offset on to the body.
    func withBytes<Result, Failure: Error>(
        from offset: Int = 0,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(offset >= 0 && offset <= count, "the offset is one of the content")
        return try unsafe body(UnsafeBufferPointer(rebasing: memory[offset..<count]).span)
    }

    /// Removes everything, and frees the memory unless it is to be kept.
    mutating func removeAll(keepingCapacity: Bool) {
        count = 0
        guard !keepingCapacity else { return }
        deallocate()
        unsafe memory = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    @usableFromInline
    func deallocate() { unsafe free(memory.baseAddress) }

    /// Removes bytes at the beginning, and moves the rest there.
    mutating func removeFirst(_ removed: Int) {
        precondition(removed >= 0 && removed <= count, "no more is removed than there is")
        count -= removed
        guard let start = unsafe memory.baseAddress else { return }
        unsafe memmove(start, start + removed, count)
    }

    /// Removes everything behind a length.
    mutating func truncate(to length: Int) {
        precondition(length >= 0 && length <= count, "a buffer is truncated to its length at most")
        count = length
    }

    // MARK: Appending

    @inlinable
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        unsafe write(1) { place in
            unsafe place.pointee = byte
            return 1
        }
    }

    mutating func append(_ bytes: Span<UInt8>) {
        unsafe write(bytes.count) { place in
            unsafe bytes.withUnsafeBytes { unsafe Self.copy($0.baseAddress, bytes.count, to: place) }
            return bytes.count
        }
    }

    mutating func append(_ other: borrowing ByteBuffer) { other.withBytes { append($0) } }

    /// Appends a literal.
    @inlinable
    @inline(__always)
    mutating func append(literal: StaticString) {
        let length = literal.utf8CodeUnitCount
        unsafe write(length) { place in
            unsafe Self.copy(literal.utf8Start, length, to: place)
            return length
        }
    }

    /// Appends the name of a member in quotes and a colon, after a comma if it is separated.
    @inlinable
    @inline(__always)
    mutating func append(name: StaticString, separated: Bool) {
        let length = name.utf8CodeUnitCount
        unsafe write(length &+ 4) { start in
            unsafe start[0] = UInt8(ascii: ",")
            // If none is needed, the quote overwrites it.
            let place = unsafe start + (separated ? 1 : 0)
            unsafe place[0] = UInt8(ascii: "\"")
            unsafe Self.copy(name.utf8Start, length, to: place + 1)
            unsafe place[length &+ 1] = UInt8(ascii: "\"")
            unsafe place[length &+ 2] = UInt8(ascii: ":")
            return length &+ (separated ? 4 : 3)
        }
    }

    /// Appends a literal in quotes.
    @inlinable
    @inline(__always)
    mutating func append(word: StaticString) {
        let length = word.utf8CodeUnitCount
        unsafe write(length &+ 2) { place in
            unsafe place[0] = UInt8(ascii: "\"")
            unsafe Self.copy(word.utf8Start, length, to: place + 1)
            unsafe place[length &+ 1] = UInt8(ascii: "\"")
            return length &+ 2
        }
    }

    /// Appends bytes that need no escapes, in quotes.
    mutating func append(quoting plain: Span<UInt8>) {
        let length = plain.count
        unsafe write(length &+ 2) { place in
            unsafe place[0] = ASCII.quote
            unsafe plain.withUnsafeBytes { unsafe Self.copy($0.baseAddress, length, to: place + 1) }
            unsafe place[length &+ 1] = ASCII.quote
            return length &+ 2
        }
    }

    /// Appends bytes from an index on, up to the first one that needs an escape in a JSON string.
    ///
    /// - Returns: the index of that byte; the number of bytes if no byte needs an escape.
    mutating func append(plain utf8: Span<UInt8>, from start: Int) -> Int {
        var index = start
        unsafe write(utf8.count &- start) { place in
            let room = unsafe UnsafeMutableBufferPointer(start: place, count: utf8.count &- start)
            while index &+ EightBytes.size <= utf8.count {
                let word = EightBytes(utf8, at: index)
                // What stands behind the first byte that needs an escape is overwritten.
                unsafe word.store(at: room, index &- start)
                if let first = word.firstEscaped {
                    index &+= first
                    return index &- start
                }
                index &+= EightBytes.size
            }
            while index < utf8.count, Span.isPlain(utf8[index]) {
                unsafe room[index &- start] = utf8[index]
                index &+= 1
            }
            return index &- start
        }
        return index
    }

    /// Appends an integer in decimal.
    @usableFromInline
    mutating func append(_ value: Int64) {
        unsafe write(Decimal.capacity) { unsafe Decimal.write(value, to: $0) }
    }

    // MARK: Room

    /// Appends what the body writes: up to `most` bytes, and it returns how many.
    @inlinable
    @inline(__always)
    @unsafe
    mutating func write(_ most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        if unsafe memory.count &- count < most { grow(by: most) }
        guard let start = unsafe memory.baseAddress else { return }
        count &+= unsafe body(start + count)
    }

    @inlinable
    @inline(__always)
    @unsafe
    static func copy(_ source: UnsafeRawPointer?, _ length: Int, to place: UnsafeMutablePointer<UInt8>) {
        guard let source = unsafe source else { return }
        unsafe UnsafeMutableRawPointer(place).copyMemory(from: source, byteCount: length)
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by length: Int) {
        let capacity = max(count + length, 2 * capacity, Self.leastCapacity)
        guard let start = unsafe realloc(memory.baseAddress, capacity) else {
            preconditionFailure("there is memory for \(capacity) bytes")
        }
        unsafe memory = UnsafeMutableBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: capacity)
    }
}
