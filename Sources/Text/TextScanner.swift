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

    /// A number with or without a fraction: `1`, `1.5`, `.5`, `1,5`, `1½`.
    public mutating func decimal() -> DecimalNumber? {
        let start = index
        let whole = digitRun()
        if let part = fractionSign() { return DecimalNumber(whole: whole, fraction: part) }
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
        if fraction.count == 3, 1...3 ~= whole.count, whole.first != UInt8(ascii: "0") {
            let (whole, part) = (String(decoding: whole, as: UTF8.self), String(decoding: fraction, as: UTF8.self))
            let digits = part.last == "0" ? part.prefix { $0 != "0" } : "\(part)0"
            number.separator = hasComma ? "," : "."
            number.groupedReadings = [whole + part, digits.isEmpty ? whole : "\(whole).\(digits)"]
        }
        return number
    }

    /// The digits behind the point of `½`, `¼` or `¾`, which may be apart from the whole number.
    private mutating func fractionSign() -> ArraySlice<UInt8>? {
        var ahead = self
        ahead.skipSpaces()
        for (sign, digits) in [("½", "5"), ("¼", "25"), ("¾", "75")]
        where ahead.bytes[ahead.index...].starts(with: sign.utf8) {
            index = ahead.index + sign.utf8.count
            return ArraySlice(digits.utf8)
        }
        return nil
    }

    /// Whether a word may begin or end here: a script without spaces has its words side by side.
    public var isAtBoundary: Bool {
        guard let next, isLetter(next) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= next else { return true }
        var ahead = self
        return ahead.word().first?.isIdeograph ?? false
    }

    /// The value of the longest name at this place: a word, or the beginning of one in a script without spaces.
    public mutating func name<Value>(_ find: (String) -> Value?) -> Value? {
        var ahead = self
        var name = ahead.word()[...]
        while !name.isEmpty {
            if let value = find(String(name)) {
                index += name.utf8.count
                return value
            }
            guard name.removeLast().isIdeograph else { return nil }
        }
        return nil
    }

    /// Skips a name if it is next.
    public mutating func skip(name: String) -> Bool { self.name { $0 == name ? true : nil } != nil }

    /// Skips words with spaces before each of them, if they all are next.
    public mutating func skipWords(_ words: String...) -> Bool {
        var ahead = self
        for word in words {
            ahead.skipSpaces()
            guard ahead.skipWord(word) else { return false }
        }
        self = ahead
        return true
    }

    /// The bytes of ASCII up to the first that is not a part.
    public mutating func run(_ isPart: (UInt8) -> Bool) -> String {
        let start = index
        while let next, isPart(next) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// The text between an earlier place and this one.
    public func text(since start: TextScanner) -> String {
        String(decoding: bytes[start.index..<index], as: UTF8.self)
    }

    /// The whole text, with another part in the place of the text since an earlier place.
    public func text(with part: String, since start: TextScanner) -> String {
        String(decoding: bytes[..<start.index] + Array(part.utf8) + bytes[index...], as: UTF8.self)
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
    /// If its comma or point may also separate thousands, as in `1,500`: the number with and without them.
    public fileprivate(set) var groupedReadings: [String]?
    /// That comma or point.
    public fileprivate(set) var separator: Unicode.Scalar?
    /// Whether a half is added to it.
    public var hasHalf = false
    /// Whether it was a word.
    public var isWord = false
    /// Whether the word is an article as well.
    public var isArticle = false
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
        return Int128(whole) * factor + Int128(fraction) * factor / Int128(scale) + (hasHalf ? factor / 2 : 0)
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}

/// A text in quotes, without characters that cannot be seen.
public func quoted(_ text: String) -> String { "'\(PrintableText.escape(text))'" }

extension Character {
    /// Whether it is of a script that has no spaces between words.
    public var isIdeograph: Bool { unicodeScalars.first.map { 0x3400...0x9FFF ~= $0.value } ?? false }
}

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
