/// A number with at least two digits.
func twoDigits(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

/// A number in hexadecimal, padded with zeros to this many digits.
func hexadecimal(_ number: some UnsignedInteger, _ digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
