/// The bytes of an input, consumed from the front: first small decisions, then their operands.
public struct Input {
    private let bytes: [UInt8]
    private var position = 0

    /// An input of libFuzzer.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    /// The next byte, 0 behind the end.
    mutating func next() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func nextInteger() -> UInt64 {
        (0..<8).reduce(0) { number, _ in number << 8 | UInt64(next()) }
    }

    /// The remaining bytes, and the pieces in which they arrive.
    mutating func rest() -> Stream {
        defer { position = bytes.count }
        return Stream(bytes: Array(bytes[min(position, bytes.count)...]))
    }

    /// Bytes that arrive in pieces.
    struct Stream {
        let bytes: [UInt8]

        /// The bytes themselves decide the length of a piece, so that each input has one way to arrive.
        var pieces: [[UInt8]] {
            var pieces: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + 1 + Int(bytes[start] & 31))
                pieces.append(Array(bytes[start..<end]))
                start = end
            }
            return pieces
        }
    }
}
