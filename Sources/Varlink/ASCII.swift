/// The bytes that have a meaning in JSON.
enum ASCII {
    static let null: UInt8 = 0x00
    static let tab: UInt8 = 0x09
    static let newline: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let plus: UInt8 = 0x2B
    static let comma: UInt8 = 0x2C
    static let minus: UInt8 = 0x2D
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
    static let lowerA: UInt8 = 0x61
    static let lowerB: UInt8 = 0x62
    static let lowerE: UInt8 = 0x65
    static let lowerF: UInt8 = 0x66
    static let lowerN: UInt8 = 0x6E
    static let lowerR: UInt8 = 0x72
    static let lowerT: UInt8 = 0x74
    static let lowerU: UInt8 = 0x75
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D

    /// Whether the byte is a decimal digit.
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// Whether the byte is whitespace in JSON.
    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == space || byte == newline || byte == carriageReturn || byte == tab
    }

    /// The hexadecimal digit of a number below 16.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 { value < 10 ? zero + value : lowerA + value - 10 }

    /// The value of a hexadecimal digit, of either case.
    static func hexadecimalValue(of byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46: UInt32(byte - 0x41 + 10)
        case 0x61...0x66: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }
}

/// Eight bytes that are tested together.
///
/// A test works on all eight bytes at once. In its result the highest bit of a byte is set if that byte matches. Only the
/// lowest bit that is set is exact, since borrows run upwards from there.
struct EightBytes {
    static let size = 8
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    let bits: UInt64

    /// The eight bytes from an index; the first one is the lowest.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at index: Int) {
        // The load checks its bounds itself, and any eight bytes are a number.
        bits = UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The eight bytes from a place; the first one is the lowest.
    @inline(__always)
    @unsafe
    init(_ place: UnsafePointer<UInt8>) {
        bits = UInt64(littleEndian: unsafe UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    /// The index of the first byte that needs an escape in a JSON string, or is not ASCII; nil if all are plain ASCII.
    @inline(__always)
    var firstSpecial: Int? { first(of: special | bits) }

    /// The index of the first backslash; nil if no byte is a backslash.
    @inline(__always)
    var firstBackslash: Int? { first(of: zeroes(bits ^ Self.ones &* UInt64(ASCII.backslash))) }

    /// Writes the bytes at an index, behind which there is room for eight.
    @inline(__always)
    @unsafe
    func store(at output: UnsafeMutableBufferPointer<UInt8>, _ index: Int) {
        let output = UnsafeMutableRawBufferPointer(output)
        unsafe output.storeBytes(of: bits.littleEndian, toByteOffset: index, as: UInt64.self)
    }

    /// The index of the first byte that needs an escape in a JSON string; nil if no byte needs one.
    @inline(__always)
    var firstEscaped: Int? { first(of: special) }

    /// Whether none of the bytes needs an escape in a JSON string.
    @inline(__always)
    var isPlain: Bool { special & Self.highs == 0 }

    @inline(__always)
    private var special: UInt64 {
        zeroes(bits ^ Self.ones &* UInt64(ASCII.quote)) | zeroes(bits ^ Self.ones &* UInt64(ASCII.backslash))
            | (bits &- Self.ones &* UInt64(ASCII.space)) & ~bits
    }

    @inline(__always)
    private func zeroes(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word }

    @inline(__always)
    private func first(of found: UInt64) -> Int? {
        let found = found & Self.highs
        return found == 0 ? nil : found.trailingZeroBitCount >> 3
    }
}
