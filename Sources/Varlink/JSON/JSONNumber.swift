/// The values of numbers that a scanner has found valid.
enum JSONNumber {
    /// As many digits never exceed 64 bits.
    private static let safeDigits = 18

    /// The value of a number without fraction and exponent, nil for any other and outside of 64 bits.
    static func integer(_ bytes: Span<UInt8>, _ node: JSONNode) -> Int64? {
        guard node.kind == .integer else { return nil }
        let isNegative = bytes[Int(node.start)] == ASCII.minus
        let digits = Int(node.start) &+ (isNegative ? 1 : 0)..<Int(node.end)
        guard digits.count <= safeDigits else { return longInteger(bytes, digits, isNegative: isNegative) }
        var value: Int64 = 0
        for index in digits { value = value &* 10 &+ Int64(bytes[index] &- ASCII.zero) }
        return isNegative ? -value : value
    }

    private static func longInteger(_ bytes: Span<UInt8>, _ digits: Range<Int>, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        for index in digits {
            let digit = Int64(bytes[index] &- ASCII.zero)
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            // Growing downwards when negative, as the least value has no positive counterpart.
            let (sum, overflowToo) =
                isNegative ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
            guard !overflow, !overflowToo else { return nil }
            value = sum
        }
        return value
    }

    /// The double nearest to a number, nil where that would be infinite.
    static func double(_ bytes: [UInt8], _ node: JSONNode) -> Double? {
        guard node.isNumber, let value = Double(String(decoding: bytes[node.range], as: UTF8.self)) else { return nil }
        return value.isFinite ? value : nil
    }
}
