extension JSONReader {
    /// The bytes of a string, without its quotes.
    @usableFromInline
    struct StringRange: Sendable {
        @usableFromInline
        var start: Int
        @usableFromInline
        var end: Int
        /// Whether the string has escapes.
        @usableFromInline
        var isEscaped: Bool

        @inlinable
        var count: Int { end &- start }
    }
}

// MARK: - Scanning

extension JSONReader {
    /// Scans a string, whose first quote is the next byte, and moves behind its last one.
    @inline(__always)
    mutating func scanString() -> StringRange {
        let start = position &+ 1
        let index = skipPlain(from: start)
        guard self[index] == ASCII.quote else { return scanSpecialString(from: start, at: index) }
        position = index &+ 1
        return StringRange(start: start, end: index, isEscaped: false)
    }

    /// The offset of the next byte that is not ASCII or that cannot stand for itself in a string.
    @inline(__always)
    private func skipPlain(from start: Int) -> Int {
        var index = start
        while index &+ EightBytes.size <= end {
            if let first = unsafe EightBytes(base + index).firstSpecial { return index &+ first }
            index &+= EightBytes.size
        }
        while self[index].isPlainASCII { index &+= 1 }
        return index
    }

    /// Scans the rest of a string that is not plain ASCII, from its first special byte.
    @inline(never)
    private mutating func scanSpecialString(from start: Int, at first: Int) -> StringRange {
        var string = StringRange(start: start, end: start, isEscaped: false)
        position = first
        while true {
            switch self[position] {
            case ASCII.quote:
                string.end = position
                position &+= 1
                return string
            case ASCII.backslash:
                string.isEscaped = true
                if self[position &+ 1] == ASCII.quote {
                    position &+= 2
                } else {
                    guard scanEscape() else { return string }
                }
            case 0x80...:
                guard scanMultibyteScalar() else { return string }
            case let control:
                position < end ? fail(.controlCharacter(control), at: position) : fail(.unexpectedEnd, at: end)
                return string
            }
            position = skipPlain(from: position)
        }
    }

    /// Scans an escape, or both escapes of a surrogate pair; false after an error.
    private mutating func scanEscape() -> Bool {
        let start = position
        switch self[start &+ 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.lowerB, ASCII.lowerF, ASCII.lowerN, ASCII.lowerR,
            ASCII.lowerT:
            position = start &+ 2
            return true
        case ASCII.lowerU:
            guard let unit = scanCodeUnit() else { return false }
            return unit & 0xF800 != 0xD800 || scanLowSurrogate(after: unit, at: start)
        default:
            start &+ 1 < end ? fail(.invalidEscape, at: start) : fail(.unexpectedEnd, at: end)
            return false
        }
    }

    /// Scans the second half of a surrogate pair, whose first half stands at the offset; false after an error.
    private mutating func scanLowSurrogate(after high: UInt32, at start: Int) -> Bool {
        if high < 0xDC00, self[position] == ASCII.backslash, self[position &+ 1] == ASCII.lowerU {
            guard let low = scanCodeUnit() else { return false }
            if low & 0xFC00 == 0xDC00 { return true }
        }
        return tolerates(.loneSurrogate, at: start)
    }

    /// Scans `\uXXXX`; the UTF-16 code unit that it names, nil after an error.
    private mutating func scanCodeUnit() -> UInt32? {
        let start = position
        position &+= 2
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let value = ASCII.hexadecimalValue(of: self[position]) else {
                position < end ? fail(.invalidEscape, at: start) : fail(.unexpectedEnd, at: end)
                return nil
            }
            unit = unit << 4 | value
            position &+= 1
        }
        return unit
    }

    /// Scans one scalar of two to four bytes, by RFC 3629, section 4; false after an error.
    private mutating func scanMultibyteScalar() -> Bool {
        let start = position
        let (length, second) = Self.multibyteForm(self[start])
        // Byte by byte: a NUL is not a continuation byte, so that this stops at the end.
        guard second.contains(self[start &+ 1]) else {
            fail(.invalidUTF8, at: start)
            return false
        }
        var index = start &+ 2
        while index < start &+ length {
            guard self[index] & 0xC0 == 0x80 else {
                fail(.invalidUTF8, at: start)
                return false
            }
            index &+= 1
        }
        position = index
        return true
    }

    /// The length of a scalar with this first byte, and the values of its second byte: none if no scalar begins with it.
    private static func multibyteForm(_ first: UInt8) -> (length: Int, second: Range<UInt8>) {
        switch first {
        case 0xC2...0xDF: (2, 0x80..<0xC0)
        case 0xE0: (3, 0xA0..<0xC0)
        case 0xE1...0xEC, 0xEE...0xEF: (3, 0x80..<0xC0)
        case 0xED: (3, 0x80..<0xA0)
        case 0xF0: (4, 0x90..<0xC0)
        case 0xF1...0xF3: (4, 0x80..<0xC0)
        case 0xF4: (4, 0x80..<0x90)
        default: (1, 0..<0)
        }
    }
}

extension UInt8 {
    /// Whether the byte is ASCII and can stand for itself in a JSON string.
    fileprivate var isPlainASCII: Bool {
        self >= ASCII.space && self < 0x80 && self != ASCII.quote && self != ASCII.backslash
    }
}

// MARK: - The content of a string

extension JSONReader {
    @inline(__always)
    func utf8<Result>(_ string: StringRange, _ body: (Span<UInt8>) -> Result) -> Result {
        body(unsafe UnsafeBufferPointer(start: base + string.start, count: string.count).span)
    }

    /// Calls the body with the UTF-8 of a string, in place, or of a copy if it has escapes.
    func withUTF8<Result>(of string: StringRange, _ body: (Span<UInt8>) -> Result) -> Result {
        string.isEscaped ? body(unescaped(string).span) : utf8(string, body)
    }

    /// A string as a value.
    func text(_ string: StringRange) -> String {
        guard !string.isEscaped else { return String(decoding: unescaped(string), as: UTF8.self) }
        // It was validated when it was scanned.
        return utf8(string) { String(copying: unsafe UTF8Span(unchecked: $0)) }
    }

    /// The UTF-8 of a string whose escapes were validated.
    func unescaped(_ string: StringRange) -> [UInt8] {
        // An escape is longer than its character. So the array always has room for as many bytes as are left to read.
        unsafe Array(unsafeUninitializedCapacity: string.count) { output, count in
            var index = string.start
            while index < string.end {
                if index &+ EightBytes.size <= string.end {
                    let bytes = unsafe EightBytes(base + index)
                    unsafe bytes.store(at: output, count)
                    let plain = bytes.firstBackslash ?? EightBytes.size
                    count &+= plain
                    index &+= plain
                    if plain == EightBytes.size { continue }
                } else if self[index] != ASCII.backslash {
                    unsafe output[count] = self[index]
                    count &+= 1
                    index &+= 1
                    continue
                }
                let escape = escape(at: index)
                for byte in UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter {
                    unsafe output[count] = byte
                    count &+= 1
                }
                index = escape.end
            }
        }
    }

    /// What an escape stands for, and the offset behind it.
    @inline(__always)
    private func escape(at index: Int) -> (scalar: Unicode.Scalar, end: Int) {
        let byte: UInt8
        switch self[index &+ 1] {
        case ASCII.lowerU: return escapedScalar(at: index)
        case ASCII.lowerB: byte = 0x08
        case ASCII.lowerF: byte = 0x0C
        case ASCII.lowerN: byte = ASCII.newline
        case ASCII.lowerR: byte = ASCII.carriageReturn
        case ASCII.lowerT: byte = ASCII.tab
        case let itself: byte = itself
        }
        return (Unicode.Scalar(byte), index &+ 2)
    }

    private func escapedScalar(at index: Int) -> (scalar: Unicode.Scalar, end: Int) {
        let code = codeUnit(at: index)
        let next = index + 6
        // A reader that is tolerant has let half a pair pass.
        guard code & 0xFC00 == 0xD800, self[next] == ASCII.backslash, self[next + 1] == ASCII.lowerU,
            codeUnit(at: next) & 0xFC00 == 0xDC00
        else { return (Unicode.Scalar(code) ?? "\u{FFFD}", next) }
        return (Unicode.Scalar(0x10000 + (code & 0x3FF) << 10 + codeUnit(at: next) & 0x3FF) ?? "\u{FFFD}", next + 6)
    }

    /// The UTF-16 code unit that a validated `\uXXXX` names.
    private func codeUnit(at index: Int) -> UInt32 {
        (index + 2..<index + 6).reduce(0) { $0 << 4 | (ASCII.hexadecimalValue(of: self[$1]) ?? 0) }
    }
}
