/// Eight bytes looked at together.
///
/// Each test works on all of them at once, byte by byte: its result has the highest bit of a byte set where that byte is
/// one that is searched for. Only the lowest bit that is set is exact, as borrows run upwards from there.
struct Word: Equatable {
    static let size = 8
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    private let bits: UInt64

    /// The bytes from the index on, of which there have to be eight; the first is the lowest.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at index: Int) {
        // The load checks its bounds itself, and any eight bytes are a number.
        bits = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// How many bytes stand before the first NUL; eight where there is none.
    var countBeforeNull: Int { count(before: zeroes(bits)) }

    /// How many bytes stand before the first that cannot stand for itself in a JSON string, or is not ASCII.
    var countBeforeSpecial: Int { count(before: special | bits) }

    /// Whether each of the bytes can stand for itself in a JSON string.
    var isPlain: Bool { special & Self.highs == 0 }

    private var special: UInt64 {
        zeroes(bits ^ Self.ones &* UInt64(ASCII.quote)) | zeroes(bits ^ Self.ones &* UInt64(ASCII.backslash))
            | (bits &- Self.ones &* UInt64(ASCII.space)) & ~bits
    }

    private func zeroes(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word }

    private func count(before found: UInt64) -> Int { (found & Self.highs).trailingZeroBitCount >> 3 }
}
