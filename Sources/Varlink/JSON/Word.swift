/// Eight bytes looked at together.
///
/// Each test works on all of them at once, byte by byte: its result has the highest bit of a byte set where that byte is
/// one that is searched for. Only the lowest bit that is set is exact, as borrows run upwards from there.
@usableFromInline
struct Word: Equatable {
    @inlinable
    static var size: Int { 8 }
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    @usableFromInline
    let bits: UInt64

    /// The bytes from the index on, of which there have to be eight; the first is the lowest.
    @inlinable
    @inline(__always)
    init(_ bytes: Span<UInt8>, at index: Int) {
        // The load checks its bounds itself, and any eight bytes are a number.
        bits = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    @inlinable
    @inline(__always)
    static func == (left: Word, right: Word) -> Bool { left.bits == right.bits }

    /// Where the first byte stands that cannot stand for itself in a JSON string, or is not ASCII; nil where there is none.
    @inline(__always)
    var firstSpecial: Int? { first(of: special | bits) }

    /// Whether each of the bytes can stand for itself in a JSON string.
    @inline(__always)
    var isPlain: Bool { special & Self.highs == 0 }

    @inline(__always)
    private var special: UInt64 {
        zeroes(bits ^ Self.ones &* UInt64(ASCII.quote)) | zeroes(bits ^ Self.ones &* UInt64(ASCII.backslash))
            | (bits &- Self.ones &* UInt64(ASCII.space)) & ~bits
    }

    @inline(__always)
    private func zeroes(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word }

    @inline(__always)
    private func first(of found: UInt64) -> Int? {
        let found = found & Self.highs
        return found == 0 ? nil : found.trailingZeroBitCount >> 3
    }
}
