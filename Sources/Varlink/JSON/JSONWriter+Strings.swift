extension JSONWriter {
    /// Writes a string with its quotes, escaped only where RFC 8259 demands it.
    @usableFromInline
    mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { unsafe write(utf8: $0.span) }
    }

    /// Writes a string, whose bytes are UTF-8, with its quotes.
    @usableFromInline
    mutating func write(utf8: Span<UInt8>) {
        guard utf8.isPlain else { return writeEscaped(utf8) }
        buffer.append(quoting: utf8)
    }

    /// Writes a string with its quotes, byte by byte.
    mutating func writeEscaped(_ utf8: Span<UInt8>) {
        buffer.append(ASCII.quote)
        for index in utf8.indices { writeEscaped(utf8[index]) }
        buffer.append(ASCII.quote)
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case ASCII.quote, ASCII.backslash: buffer.append(contentsOf: [ASCII.backslash, byte])
        case 0x08: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerB])
        case 0x0C: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerF])
        case ASCII.newline: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerN])
        case ASCII.carriageReturn: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerR])
        case ASCII.tab: buffer.append(contentsOf: [ASCII.backslash, ASCII.lowerT])
        case 0..<ASCII.space: writeUnicodeEscape(byte)
        default: buffer.append(byte)
        }
    }

    private mutating func writeUnicodeEscape(_ byte: UInt8) {
        let digits = Array("0123456789abcdef".utf8)
        buffer.append(contentsOf: "\\u00".utf8)
        buffer.append(digits[Int(byte >> 4)])
        buffer.append(digits[Int(byte & 0xF)])
    }
}

extension Span<UInt8> {
    /// Whether none of these bytes of UTF-8 has to be escaped in a JSON string.
    var isPlain: Bool {
        guard count >= Word.size else {
            for index in indices where !Self.isPlain(self[index]) { return false }
            return true
        }
        var index = 0
        while index &+ Word.size < count {
            guard Word(self, at: index).isPlain else { return false }
            index &+= Word.size
        }
        // The last word may overlap the one before it.
        return Word(self, at: count &- Word.size).isPlain
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= ASCII.space && byte != ASCII.quote && byte != ASCII.backslash
    }
}
