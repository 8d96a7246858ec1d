extension JSONScanner {
    /// Scans a string from behind its first quote to behind its last; tells whether it holds escapes.
    @inline(__always)
    mutating func scanString(_ bytes: Span<UInt8>) throws(JSONFailure) -> Bool {
        let index = skipPlain(bytes, from: position)
        guard index < end, bytes[index] == ASCII.quote else { return try scanRest(bytes, from: index) }
        position = index &+ 1
        return false
    }

    /// Scans what is left of a string from a byte on that is special; tells whether it holds escapes.
    @inline(never)
    private mutating func scanRest(_ bytes: Span<UInt8>, from start: Int) throws(JSONFailure) -> Bool {
        var index = start
        var isEscaped = false
        while true {
            index = skipPlain(bytes, from: index)
            guard index < end else { throw failure(.unexpectedEnd, at: end) }
            switch bytes[index] {
            case ASCII.quote:
                position = index &+ 1
                return isEscaped
            case ASCII.backslash:
                isEscaped = true
                index = try scanEscape(bytes, at: index)
            case 0x80...:
                index = try scanMultibyteScalar(bytes, at: index)
            case let control:
                throw failure(.controlCharacter(control), at: index)
            }
        }
    }

    @inline(__always)
    private func skipPlain(_ bytes: Span<UInt8>, from start: Int) -> Int {
        JSONString.skipPlain(bytes, in: start..<end)
    }

    /// Scans the escape whose backslash stands at the index, both of them where it is half of a surrogate pair.
    private func scanEscape(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> Int {
        guard index + 1 < end else { throw failure(.unexpectedEnd, at: end) }
        switch bytes[index + 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.lowerB, ASCII.lowerF, ASCII.lowerN, ASCII.lowerR,
            ASCII.lowerT:
            return index + 2
        case ASCII.lowerU:
            let unit = try scanCodeUnit(bytes, at: index)
            guard unit & 0xF800 == 0xD800 else { return index + 6 }
            guard unit < 0xDC00, index + 7 < end, bytes[index + 6] == ASCII.backslash,
                bytes[index + 7] == ASCII.lowerU,
                try scanCodeUnit(bytes, at: index + 6) & 0xFC00 == 0xDC00
            else { throw failure(.loneSurrogate, at: index) }
            return index + 12
        default:
            throw failure(.invalidEscape, at: index)
        }
    }

    /// The UTF-16 code unit that the `\uXXXX` at the index names.
    private func scanCodeUnit(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> UInt32 {
        var unit: UInt32 = 0
        for digit in index + 2..<index + 6 {
            guard digit < end else { throw failure(.unexpectedEnd, at: end) }
            guard let value = ASCII.hexadecimalValue(of: bytes[digit]) else {
                throw failure(.invalidEscape, at: index)
            }
            unit = unit << 4 | value
        }
        return unit
    }

    /// Checks one scalar of two to four bytes against RFC 3629, section 4, and returns the index behind it.
    private func scanMultibyteScalar(_ bytes: Span<UInt8>, at index: Int) throws(JSONFailure) -> Int {
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[index] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw failure(.invalidUTF8, at: index)
        }
        guard index + length <= end, second.contains(bytes[index + 1]) else {
            throw failure(.invalidUTF8, at: index)
        }
        for next in index + 2..<index + length where bytes[next] & 0xC0 != 0x80 {
            throw failure(.invalidUTF8, at: index)
        }
        return index + length
    }
}

extension JSONString {
    /// The index of the first byte of a range that is not ASCII or cannot stand for itself in a string, or its end.
    @inline(__always)
    static func skipPlain(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int {
        var index = range.lowerBound
        while index &+ Word.size <= range.upperBound {
            if let first = Word(bytes, at: index).firstSpecial { return index &+ first }
            index &+= Word.size
        }
        while index < range.upperBound, bytes[index].isPlainASCII { index &+= 1 }
        return index
    }
}

extension UInt8 {
    /// Whether the byte is ASCII and can stand for itself in a JSON string.
    fileprivate var isPlainASCII: Bool {
        self >= ASCII.space && self < 0x80 && self != ASCII.quote && self != ASCII.backslash
    }
}
