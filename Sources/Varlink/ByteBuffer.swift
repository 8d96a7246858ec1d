/// A growing buffer of bytes.
///
/// The array is longer than the content, so that a piece is written with one check for room: `Array.append` is a call with
/// checks of its own for each piece. Names are written by code that is inlined at the call, also in other modules: there a
/// literal is a few stores.
@usableFromInline
struct ByteBuffer: Sendable {
    /// The least capacity.
    private static let leastRoom = 256

    /// The content, and free space behind it.
    @usableFromInline
    private(set) var storage: [UInt8] = []
    @usableFromInline
    private(set) var count = 0

    init() {}

    init(_ bytes: consuming [UInt8]) {
        count = bytes.count
        storage = bytes
    }

    /// A copy of the content.
    var bytes: [UInt8] { Array(storage[..<count]) }
    /// The size of the memory in bytes.
    var capacity: Int { storage.count }

    mutating func removeAll(keepingCapacity: Bool) {
        if !keepingCapacity { storage = [] }
        count = 0
    }

    mutating func removeFirst(_ removed: Int) {
        storage.removeSubrange(..<removed)
        count -= removed
    }

    mutating func truncate(to length: Int) {
        precondition(length <= count, "a buffer is truncated to its length at most")
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

    mutating func append(contentsOf bytes: some Collection<UInt8>) {
        reserve(bytes.count)
        for byte in bytes {
            storage[count] = byte
            count &+= 1
        }
    }

    mutating func append(_ bytes: [UInt8]) { append(copying: bytes.span) }

    mutating func append(copying other: ByteBuffer) {
        append(copying: other.storage.span.extracting(first: other.count))
    }

    mutating func append(copying bytes: Span<UInt8>) {
        unsafe write(bytes.count) { place in
            unsafe bytes.withUnsafeBytes { unsafe Self.copy($0.baseAddress, bytes.count, to: place) }
            return bytes.count
        }
    }

    /// Appends a literal without escapes.
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

    /// Appends bytes that need no escapes, in quotes.
    @inline(__always)
    mutating func append(quoting plain: Span<UInt8>) {
        let length = plain.count
        unsafe write(length &+ 2) { place in
            unsafe place[0] = ASCII.quote
            unsafe plain.withUnsafeBytes { unsafe Self.copy($0.baseAddress, length, to: place + 1) }
            unsafe place[length &+ 1] = ASCII.quote
            return length &+ 2
        }
    }

    /// Appends an integer in decimal.
    @inline(__always)
    mutating func append(_ value: Int64) {
        unsafe write(Decimal.capacity) { unsafe Decimal.write(value, to: $0) }
    }

    // MARK: Room

    /// Appends what the body writes: up to `most` bytes, and it returns how many.
    @inlinable
    @inline(__always)
    @unsafe
    mutating func write(_ most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(most)
        let count = count
        let written = unsafe storage.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe body(start + count)
        }
        self.count = count &+ written
    }

    @inlinable
    @inline(__always)
    @unsafe
    static func copy(_ source: UnsafeRawPointer?, _ length: Int, to place: UnsafeMutablePointer<UInt8>) {
        guard let source = unsafe source else { return }
        unsafe UnsafeMutableRawPointer(place).copyMemory(from: source, byteCount: length)
    }

    @inlinable
    @inline(__always)
    mutating func reserve(_ length: Int) {
        if storage.count &- count < length { grow(by: length) }
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by length: Int) {
        let more = max(length, storage.count, Self.leastRoom)
        storage.append(contentsOf: repeatElement(0, count: more))
    }
}

/// The digits of integers.
enum Decimal {
    /// The most bytes that a 64-bit integer takes.
    static let capacity = 20

    /// The number of values of a group of eight digits.
    private static let groupSize: UInt64 = 100_000_000
    private static let zeroes: UInt64 = 0x3030_3030_3030_3030

    /// Writes an integer in decimal into at least ``capacity`` bytes; returns the number of bytes written.
    @inline(__always)
    @unsafe
    static func write(_ value: Int64, to start: UnsafeMutablePointer<UInt8>) -> Int {
        if (0..<10).contains(value) {
            unsafe start.pointee = ASCII.zero &+ UInt8(truncatingIfNeeded: value)
            return 1
        }
        var place = unsafe start
        if value < 0 {
            unsafe place.pointee = ASCII.minus
            unsafe place += 1
        }
        var high = value.magnitude / groupSize
        let low = digits(of: value.magnitude % groupSize)
        guard high > 0 else { return unsafe place - start &+ writeFirst(low, to: place) }
        let top = high / groupSize
        if top > 0 {
            unsafe place += unsafe writeFirst(digits(of: top), to: place)
            high %= groupSize
            unsafe write(digits(of: high), to: place)
            unsafe place += 8
        } else {
            unsafe place += unsafe writeFirst(digits(of: high), to: place)
        }
        unsafe write(low, to: place)
        return unsafe place - start &+ 8
    }

    /// Writes a group of digits without leading zeroes; returns the number of bytes written. The rest of the eight bytes
    /// is undefined.
    @inline(__always)
    @unsafe
    private static func writeFirst(_ digits: UInt64, to place: UnsafeMutablePointer<UInt8>) -> Int {
        let leading = min(digits.trailingZeroBitCount >> 3, 7)
        unsafe write(digits >> UInt64(leading << 3), to: place)
        return 8 &- leading
    }

    @inline(__always)
    @unsafe
    private static func write(_ digits: UInt64, to place: UnsafeMutablePointer<UInt8>) {
        unsafe UnsafeMutableRawPointer(place).storeBytes(of: (digits | zeroes).littleEndian, as: UInt64.self)
    }

    /// The eight digits of a number below 10⁸, a byte each, the first in the lowest byte. Both halves are divided at once:
    /// 10486 / 2²⁰ and 103 / 2¹⁰ are exact enough in place of 1/100 and 1/10 for numbers of this size.
    @inline(__always)
    private static func digits(of value: UInt64) -> UInt64 {
        let fours = value / 10_000 | (value % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}
