import Glibc

/// Splits a stream of bytes into messages, each of which ends with a NUL (UAPI.20).
///
/// Each byte is copied once, when it is received, and searched once for the NUL.
public struct Framer: Sendable {
    /// The capacity that is kept while the framer is empty.
    private static let idleCapacity = 16 * 1024

    /// The received bytes that were not discarded yet; the ranges of messages refer to them.
    public private(set) var bytes: [UInt8] = []
    /// The greatest length of a message in bytes, without its NUL.
    public let limit: Int
    @usableFromInline
    private(set) var position = Position()
    /// The number of bytes received in total.
    private(set) var received = 0

    /// How far the framer has read.
    @usableFromInline
    struct Position: Sendable {
        /// The first byte of the next message.
        @usableFromInline
        var start = 0
        /// The first byte that was not searched for a NUL.
        var searched = 0
    }

    /// A framer for messages up to the given length in bytes.
    public init(limit: Int) { self.limit = limit }

    /// The number of received bytes that do not belong to a returned message.
    @inlinable
    public var pending: Int { bytes.count - position.start }

    /// Takes the next bytes of the stream. Ranges that were returned before become invalid.
    public mutating func receive(_ received: Span<UInt8>) {
        discardReturned()
        self.received += received.count
        unsafe received.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The range in ``bytes`` of the next message, without the NUL that follows it; nil if it is not complete yet.
    ///
    /// - Throws: `messageTooLong`.
    public mutating func next() throws(ProtocolViolation) -> Range<Int>? {
        let index = indexOfNull(from: position.searched)
        let end = bytes.count
        position.searched = index
        guard index - position.start <= limit else { throw .messageTooLong(limit: limit) }
        guard index < end else { return nil }
        let message = position.start..<index
        position = Position(start: index + 1, searched: index + 1)
        return message
    }

    /// The index of the first NUL from the given index, or the end.
    private func indexOfNull(from start: Int) -> Int {
        let rest = bytes.span.extracting(droppingFirst: start)
        return unsafe rest.withUnsafeBytes { rest in
            guard let first = rest.baseAddress else { return start }
            guard let found = unsafe memchr(first, CInt(ASCII.null), rest.count) else { return start &+ rest.count }
            return unsafe start &+ (UnsafeRawPointer(found) - first)
        }
    }

    mutating func restore(_ earlier: Position) { position = earlier }

    /// Frees the returned messages. The rest is moved only if it is the smaller part, so that each byte is moved a bounded
    /// number of times, however small the pieces of the stream are.
    mutating func discardReturned() {
        guard position.start > 0 else { return }
        if position.start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.idleCapacity)
        } else if position.start > pending {
            bytes.removeSubrange(..<position.start)
        } else {
            return
        }
        position.searched -= position.start
        position.start = 0
    }
}
