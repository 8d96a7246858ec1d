/// The content of strings that a scanner has found valid.
@usableFromInline
enum JSONString {
    /// The text of a string with its escapes resolved.
    static func decode(_ bytes: [UInt8], in range: Range<Int>, isEscaped: Bool) -> String {
        isEscaped
            ? String(decoding: unescape(bytes, in: range), as: UTF8.self)
            : String(decoding: bytes[range], as: UTF8.self)
    }

    /// Whether the bytes of a range are these.
    @inlinable
    @inline(__always)
    static func equals(_ bytes: Span<UInt8>, in range: Range<Int>, _ name: Span<UInt8>) -> Bool {
        guard range.count == name.count else { return false }
        let start = range.lowerBound
        guard name.count >= Word.size else {
            var index = 0
            while index < name.count, bytes[start &+ index] == name[index] { index &+= 1 }
            return index == name.count
        }
        var index = 0
        while index &+ Word.size < name.count {
            guard Word(bytes, at: start &+ index) == Word(name, at: index) else { return false }
            index &+= Word.size
        }
        // The last word may overlap the one before it.
        index = name.count &- Word.size
        return Word(bytes, at: start &+ index) == Word(name, at: index)
    }

    /// The UTF-8 of a string with its escapes resolved.
    static func unescape(_ bytes: [UInt8], in range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == ASCII.backslash else {
                result.append(bytes[index])
                index += 1
                continue
            }
            index = appendEscape(bytes, at: index, to: &result)
        }
        return result
    }

    private static func appendEscape(_ bytes: [UInt8], at index: Int, to result: inout [UInt8]) -> Int {
        switch bytes[index + 1] {
        case ASCII.lowerU: return appendScalar(bytes, at: index, to: &result)
        case ASCII.lowerB: result.append(0x08)
        case ASCII.lowerF: result.append(0x0C)
        case ASCII.lowerN: result.append(ASCII.newline)
        case ASCII.lowerR: result.append(ASCII.carriageReturn)
        case ASCII.lowerT: result.append(ASCII.tab)
        case let itself: result.append(itself)
        }
        return index + 2
    }

    private static func appendScalar(_ bytes: [UInt8], at index: Int, to result: inout [UInt8]) -> Int {
        var code = codeUnit(bytes, at: index)
        var next = index + 6
        if code & 0xFC00 == 0xD800 {
            code = 0x10000 + ((code & 0x3FF) << 10) + (codeUnit(bytes, at: next) & 0x3FF)
            next += 6
        }
        if let scalar = Unicode.Scalar(code) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
        return next
    }

    private static func codeUnit(_ bytes: [UInt8], at index: Int) -> UInt32 {
        bytes[index + 2..<index + 6].reduce(0) { $0 << 4 | (ASCII.hexadecimalValue(of: $1) ?? 0) }
    }
}
