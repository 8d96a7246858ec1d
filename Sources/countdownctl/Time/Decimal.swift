/// A number that was typed, exact.
struct Decimal: Equatable {
    /// The digits before the point without leading zeros; more than fit into an integer are still counted.
    let digits: Int
    private let whole: Int64
    private let fraction: Int64
    /// Ten to the power of the digits in `fraction`.
    private let scale: Int64

    /// The number of these digits; those behind the 18th of the fraction are dropped.
    init(whole: ArraySlice<UInt8>, fraction: ArraySlice<UInt8>) {
        let significant = whole.drop { $0 == UInt8(ascii: "0") }
        let kept = fraction.prefix(TextScanner.digitLimit)
        digits = significant.count
        self.whole = Self.value(significant.prefix(TextScanner.digitLimit))
        self.fraction = Self.value(kept)
        scale = kept.reduce(1) { scale, _ in scale * 10 }
    }

    /// The product with a number of microseconds, what is less than one dropped.
    func times(_ microseconds: Int64) -> Int128 {
        let factor = Int128(microseconds)
        return Int128(whole) * factor + Int128(fraction) * factor / Int128(scale)
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
