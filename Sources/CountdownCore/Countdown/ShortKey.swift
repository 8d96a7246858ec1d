/// The bytes of a key, where they are few.
///
/// Behind them stand zeroes, which no key has, so that eight of them can be looked at together.
@usableFromInline
struct ShortKey: Sendable {
    static let capacity = 24

    @usableFromInline
    private(set) var bytes = InlineArray<24, UInt8>(repeating: 0)
    @usableFromInline
    private(set) var length: UInt8 = 0

    /// Without bytes, as no key is.
    init() {}

    /// - Precondition: there are no more bytes than the capacity.
    init(_ text: Span<UInt8>) {
        precondition(text.count <= Self.capacity, "the key is a short one")
        length = UInt8(truncatingIfNeeded: text.count)
        var target = bytes.mutableSpan
        unsafe target.withUnsafeMutableBytes { target in
            unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
    }

    @inlinable
    var count: Int { Int(length) }
    var isEmpty: Bool { length == 0 }

    var text: String {
        String(copying: unsafe UTF8Span(unchecked: bytes.span.extracting(first: count)))
    }

    /// Whether all characters are printable ASCII.
    var isPlain: Bool {
        // What stands behind the bytes passes for spaces.
        let words = words
        return Self.isPlain(words.0, count) && Self.isPlain(words.1, count - 8) && Self.isPlain(words.2, count - 16)
    }

    /// Whether the first bytes of a word are from 0x20 to 0x7e.
    @inline(__always)
    private static func isPlain(_ word: UInt64, _ count: Int) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let behind: UInt64 = count < 8 ? ~0 << UInt64(max(0, count) << 3) : 0
        let word = word.littleEndian | (ones &* 0x20) & behind
        return (word | (word &- ones &* 0x20) | (word &+ ones)) & (ones &* 0x80) == 0
    }

    /// The bytes eight by eight.
    private var words: (UInt64, UInt64, UInt64) { (word(at: 0), word(at: 8), word(at: 16)) }

    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        // The load checks its bounds itself, and any eight bytes are a number.
        unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    }
}

extension ShortKey {
    /// A number that is the same for the same bytes, and that nobody can tell who does not know the seed.
    func hash(seed: (UInt64, UInt64)) -> UInt64 {
        let words = words
        var hash = SipHash(seed: seed)
        hash.take(words.0.littleEndian)
        hash.take(words.1.littleEndian)
        hash.take(words.2.littleEndian)
        return hash.finish()
    }
}

extension ShortKey: Hashable {
    @usableFromInline
    static func == (left: ShortKey, right: ShortKey) -> Bool { left.words == right.words }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        let words = words
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
    }
}
