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
    /// The first byte of the next message.
    @usableFromInline
    private(set) var start = 0
    /// The first byte that was not searched for a NUL.
    private var searched = 0

    /// A framer for messages up to the given length in bytes.
    public init(limit: Int) { self.limit = limit }

    /// The number of received bytes that do not belong to a returned message.
    @inlinable
    public var pending: Int { bytes.count - start }

    /// Takes the next bytes of the stream. Ranges that were returned before become invalid.
    public mutating func receive(_ received: Span<UInt8>) {
        discardReturned()
        unsafe received.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The range in ``bytes`` of the next message, without the NUL that follows it; nil if it is not complete yet.
    ///
    /// - Throws: `messageTooLong`.
    public mutating func next() throws(ProtocolViolation) -> Range<Int>? {
        let index = indexOfNull(from: searched)
        let end = bytes.count
        searched = index
        guard index - start <= limit else { throw .messageTooLong(limit: limit) }
        guard index < end else { return nil }
        let message = start..<index
        (start, searched) = (index + 1, index + 1)
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

    /// Lets ``next()`` return the message again that begins at an index, and those after it.
    mutating func putBack(from index: Int) { (start, searched) = (index, index) }

    /// Frees the returned messages. The rest is moved only if it is the smaller part, so that each byte is moved a bounded
    /// number of times, however small the pieces of the stream are.
    mutating func discardReturned() {
        guard start > 0 else { return }
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.idleCapacity)
        } else if start > pending {
            bytes.removeSubrange(..<start)
        } else {
            return
        }
        searched -= start
        start = 0
    }
}
