/// The digits of integers.
enum Decimal {
    /// The most bytes that an integer of 64 bits takes.
    static let capacity = 20

    /// As many numbers as a group of eight digits can say.
    private static let groupSize: UInt64 = 100_000_000
    private static let zeroes: UInt64 = 0x3030_3030_3030_3030

    /// Writes an integer in decimal.
    @inline(__always)
    static func append(_ value: Int64, to output: inout OutputSpan<UInt8>) {
        if value < 0 { output.append(ASCII.minus) }
        // Three groups are enough: the least value has 19 digits.
        var groups = InlineArray<3, UInt64>(repeating: 0)
        var first = 3
        var rest = value.magnitude
        repeat {
            first &-= 1
            groups[first] = digits(of: rest % groupSize)
            rest /= groupSize
        } while rest > 0
        // A zero has one digit all the same.
        let leading = min(groups[first].trailingZeroBitCount >> 3, 7)
        for index in first..<3 { groups[index] = (groups[index] | zeroes).littleEndian }
        output.append(copying: unsafe groups.span.bytes, from: first << 3 &+ leading)
    }

    /// The eight digits of a number below 10⁸, a byte each, the first in the lowest byte. The halves of each part are
    /// split off together: 10486 / 2²⁰ and 103 / 2¹⁰ are near enough to 1/100 and 1/10 for numbers so small.
    @inline(__always)
    private static func digits(of value: UInt64) -> UInt64 {
        let fours = value / 10_000 | (value % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}
