import Glibc

/// Cuts a stream of bytes into messages, each of which a NUL byte ends.
///
/// A byte is copied once, from what was received, and looked at once in search of the NUL.
public struct Framer: Sendable {
    /// Why a stream cannot be cut any further.
    public enum Failure: Error, Equatable, Sendable {
        /// A message has more bytes than the limit.
        case messageTooLong(limit: Int)
    }

    /// The capacity that is kept where there is nothing to hold.
    private static let idleCapacity = 16 * 1024

    /// What was received and not discarded yet; the ranges of messages lie in it.
    public private(set) var bytes: [UInt8] = []
    /// How many bytes a message may have, without its NUL.
    public let limit: Int
    private(set) var position = Position()
    /// How many bytes were received in all.
    private(set) var received = 0

    /// How far a framer has read.
    struct Position: Sendable {
        /// The first byte of the next message.
        var start = 0
        /// The first byte that was not searched for a NUL.
        var searched = 0
    }

    /// A framer for messages of so many bytes at most.
    public init(limit: Int) { self.limit = limit }

    /// The number of bytes that were received and belong to no message yet that was handed out.
    public var pending: Int { bytes.count - position.start }

    /// Takes the next bytes of the stream. Ranges handed out before are void from then on.
    public mutating func receive(_ received: Span<UInt8>) {
        discardHandedOut()
        self.received += received.count
        unsafe received.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The range in ``bytes`` of the next message, without its NUL; nil where it has not been received whole.
    public mutating func next() throws(Failure) -> Range<Int>? {
        let index = indexOfNull(from: position.searched)
        let end = bytes.count
        position.searched = index
        guard index - position.start <= limit else { throw .messageTooLong(limit: limit) }
        guard index < end else { return nil }
        let message = position.start..<index
        position = Position(start: index + 1, searched: index + 1)
        return message
    }

    /// The index of the first NUL from here on, or of the end.
    private func indexOfNull(from start: Int) -> Int {
        let rest = bytes.span.extracting(droppingFirst: start)
        return unsafe rest.withUnsafeBytes { rest in
            guard let first = rest.baseAddress else { return start }
            guard let found = unsafe memchr(first, CInt(ASCII.null), rest.count) else { return start &+ rest.count }
            return unsafe start &+ (UnsafeRawPointer(found) - first)
        }
    }

    mutating func restore(_ earlier: Position) { position = earlier }

    /// Frees what was handed out. The rest is moved only where it is the smaller part, so that a byte is moved a bounded
    /// number of times however small the pieces are in which the stream comes.
    mutating func discardHandedOut() {
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
