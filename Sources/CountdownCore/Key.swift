/// The name that a caller chose for a countdown: UTF-8, 1 to 255 bytes, no control characters.
///
/// Two keys are equal if their bytes are equal: no Unicode normalization is applied. Most keys are short; their bytes are stored
/// inline, so creating, copying and comparing them allocates nothing.
public struct Key: Hashable, Sendable {
    /// The limit of a file name.
    public static let maximumBytes = 255

    /// The bytes of a short key; empty if the key is long.
    @usableFromInline
    let short: ShortKey
    /// Boxed, so that copying a short key never touches a reference count.
    @usableFromInline
    let long: LongKey?

    /// Checks a text.
    public init(_ text: String) throws(InvalidKey) { try self.init(text.utf8Span) }

    /// Checks a text and copies it.
    public init(_ text: UTF8Span) throws(InvalidKey) {
        let utf8 = text.span
        guard !utf8.isEmpty else { throw .empty }
        guard utf8.count > ShortKey.capacity else {
            let short = ShortKey(utf8)
            if !short.isPlain { try Self.refuseControls(in: short.text) }
            (self.short, long) = (short, nil)
            return
        }
        guard utf8.count <= Self.maximumBytes else { throw .tooLong(bytes: utf8.count) }
        let text = String(copying: text)
        try Self.refuseControls(in: text)
        (short, long) = (ShortKey(), LongKey(text))
    }

    private static func refuseControls(in text: String) throws(InvalidKey) {
        for scalar in text.unicodeScalars
        where !(" "..."~").contains(scalar) && scalar.properties.generalCategory == .control {
            throw .controlCharacter(scalar)
        }
    }

    /// A key from the bytes of a short key.
    init(_ short: ShortKey) {
        self.short = short
        long = nil
    }

    /// The key as the caller wrote it.
    public var text: String { long?.text ?? short.text }

    /// Whether it has too many bytes for an entry.
    var isLong: Bool { long != nil }

    /// Calls the body with the bytes of the key.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let long else { return try body(short.bytes.span.extracting(first: short.count)) }
        return try body(long.text.utf8.span)
    }

    /// The key of its first bytes; nil if that would cut a character.
    func prefix(bytes count: Int) -> Key? {
        withBytes { bytes in
            guard count == bytes.count || bytes[count] & 0xC0 != 0x80 else { return nil }
            return try? Key(unsafe UTF8Span(unchecked: bytes.extracting(first: count)))
        }
    }

    /// Appends the bytes of the key.
    public func append(to bytes: inout [UInt8]) {
        withBytes { unsafe $0.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) } }
    }

    /// Whether the bytes are equal.
    public static func == (left: Key, right: Key) -> Bool {
        guard left.short == right.short else { return false }
        guard let a = left.long, let b = right.long else { return left.isLong == right.isLong }
        // Strings are equal under Unicode normalization, so compare the bytes.
        return a.text.utf8.elementsEqual(b.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        guard let long else { return short.hash(into: &hasher) }
        unsafe long.text.utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

/// Why a text is not a key.
public enum InvalidKey: Error, Equatable {
    case empty
    case tooLong(bytes: Int)
    case controlCharacter(Unicode.Scalar)
}

/// The text of a long key.
@usableFromInline
final class LongKey: Sendable {
    @usableFromInline
    let text: String

    init(_ text: String) { self.text = text }
}

/// The bytes of a short key.
///
/// They are followed by zeroes, which no key contains, so that eight bytes can be compared at once.
@usableFromInline
struct ShortKey: Sendable {
    static let capacity = 24

    @usableFromInline
    private(set) var bytes = InlineArray<24, UInt8>(repeating: 0)
    @usableFromInline
    private(set) var length: UInt8 = 0

    /// No bytes: not a key.
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

    var text: String { String(copying: unsafe UTF8Span(unchecked: bytes.span.extracting(first: count))) }

    /// Whether all characters are printable ASCII.
    var isPlain: Bool {
        // The zeroes behind the bytes count as spaces.
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

    /// The bytes in words of eight.
    private var words: (UInt64, UInt64, UInt64) { (word(at: 0), word(at: 8), word(at: 16)) }

    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        // The load checks its bounds itself, and any eight bytes are a number.
        unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
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
