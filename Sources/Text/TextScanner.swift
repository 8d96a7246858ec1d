/// Reads a short text from its beginning, a piece at a time; a piece that is not there leaves the place as it was.
public struct TextScanner {
    /// A number of at most this many digits always fits into an integer.
    public static let digitLimit = 18

    private let bytes: [UInt8]
    private var index = 0

    /// Begins at the first byte of the text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The byte that is read next.
    public var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Whether every byte was read.
    public var isAtEnd: Bool { index == bytes.count }

    /// Skips spaces.
    public mutating func skipSpaces() {
        while next == UInt8(ascii: " ") { index += 1 }
    }

    /// Skips a character if it is the next one.
    public mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == character.value else { return false }
        index += 1
        return true
    }

    /// A run of digits; nil if the run is shorter or longer.
    public mutating func integer(digits: ClosedRange<Int>) -> Int64? {
        let start = index
        let run = digitRun()
        guard digits.contains(run.count), let value = Int64(String(decoding: run, as: UTF8.self)) else {
            index = start
            return nil
        }
        return value
    }

    /// A number with or without a fraction: `1`, `1.5`, `.5`, `1,5`.
    public mutating func decimal() -> DecimalNumber? {
        let start = index
        let whole = digitRun()
        var fraction: ArraySlice<UInt8> = []
        let hasComma = !whole.isEmpty && next == UInt8(ascii: ",")
        if hasComma || next == UInt8(ascii: ".") {
            index += 1
            fraction = digitRun()
            guard !fraction.isEmpty else {
                index = start
                return nil
            }
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var number = DecimalNumber(whole: whole, fraction: fraction)
        number.mayBeGrouped =
            hasComma && fraction.count == 3 && whole.count <= 3 && whole.first != UInt8(ascii: "0")
        return number
    }

    /// A run of letters; empty if the next byte is not a letter.
    public mutating func word() -> String {
        let start = index
        while let next, isLetter(next) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Skips a word if it is the next one, in upper or lower case.
    public mutating func skipWord(_ word: String) -> Bool {
        var ahead = self
        guard ahead.word().lowercased() == word else { return false }
        self = ahead
        return true
    }

    private mutating func digitRun() -> ArraySlice<UInt8> {
        let start = index
        while let next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= next { index += 1 }
        return bytes[start..<index]
    }

    /// Whatever lies beyond ASCII counts as a letter: the sign for micro does.
    private func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte >= 0x80
    }
}

/// A number that was typed, exact.
public struct DecimalNumber: Equatable {
    /// The digits before the point without leading zeros; more than fit into an integer are still counted.
    public let digits: Int
    /// Whether its comma may also separate thousands, as in `1,500`.
    public fileprivate(set) var mayBeGrouped = false
    private let whole: Int64
    private let fraction: Int64
    /// Ten to the power of the digits in `fraction`.
    private let scale: Int64

    /// The number of these digits; those behind the 18th of the fraction are dropped.
    public init(whole: ArraySlice<UInt8>, fraction: ArraySlice<UInt8>) {
        let significant = whole.drop { $0 == UInt8(ascii: "0") }
        let kept = fraction.prefix(TextScanner.digitLimit)
        digits = significant.count
        self.whole = Self.value(significant.prefix(TextScanner.digitLimit))
        self.fraction = Self.value(kept)
        scale = kept.reduce(1) { scale, _ in scale * 10 }
    }

    /// The product with a number of microseconds, rounded down.
    public func times(_ microseconds: Int64) -> Int128 {
        let factor = Int128(microseconds)
        return Int128(whole) * factor + Int128(fraction) * factor / Int128(scale)
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}

/// A text in quotes, without characters that cannot be seen.
public func quoted(_ text: String) -> String { "'\(PrintableText.escape(text))'" }

extension String {
    /// The text with another put in the place of each occurrence of a part, which is not empty.
    public func substituting(_ other: String, for part: String) -> String {
        var rest = self[...]
        var result = ""
        while let first = rest.first {
            if rest.hasPrefix(part) {
                result += other
                rest = rest.dropFirst(part.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
