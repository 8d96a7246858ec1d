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
