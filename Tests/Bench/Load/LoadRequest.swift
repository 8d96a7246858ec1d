/// The bytes of a request, laid out once, with places for the number of the key and the deadline.
struct LoadRequest {
    /// Every key has 20 bytes.
    static let prefix = "bench/"
    static let digits = 14
    static let deadlineDigits = 13

    private(set) var bytes: [UInt8]
    private let keyPlace: Int
    private let deadlinePlace: Int?

    static func key(_ number: Int) -> String {
        let text = String(number)
        return prefix + String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// - Parameter text: the request, with a place for the key and, if it has one, for the deadline.
    init(_ text: (_ key: String, _ deadline: String) -> String) {
        let (key, deadline) = (Self.prefix + String(repeating: "k", count: Self.digits), "ddddddddddddd")
        bytes = Array(text(key, deadline).utf8)
        guard let place = bytes.firstRange(of: Array(key.utf8)) else { fail("a request has no key") }
        keyPlace = place.lowerBound + Self.prefix.utf8.count
        deadlinePlace = bytes.firstRange(of: Array(deadline.utf8))?.lowerBound
    }

    /// Appends the request for a key and, if it has one, a deadline in milliseconds.
    func append(to output: inout [UInt8], key: Int, deadline: Int = 0) {
        let start = output.count
        output.append(contentsOf: bytes)
        Self.put(key, Self.digits, in: &output, at: start + keyPlace)
        if let deadlinePlace { Self.put(deadline, Self.deadlineDigits, in: &output, at: start + deadlinePlace) }
    }

    private static func put(_ number: Int, _ digits: Int, in output: inout [UInt8], at place: Int) {
        var rest = number
        for index in stride(from: place + digits - 1, through: place, by: -1) {
            output[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
