import CProcess
import Glibc

/// A connection for bytes, so that a test can send anything.
public final class RawConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []
    /// The most bytes that it reads at once.
    public var portion = 65_536

    /// Connects, as another user if one is given, which requires root.
    public init(to path: String, as user: UInt32? = nil) throws {
        descriptor = try makeSocket(SOCK_STREAM)
        try withSocketAddress(of: path) { address, length in
            let result =
                user.map { connect_as($0, descriptor, address, length) } ?? connect(descriptor, address, length)
            guard result == 0 else { throw SystemCallFailure("connect to \(path)") }
        }
    }

    init(connected descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes unchanged.
    public func send(_ bytes: [UInt8], until deadline: Deadline = Deadline()) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            _ = try poll([descriptor], for: POLLOUT, until: deadline, waitingFor: "room to send \(rest.count) bytes")
            rest = rest.dropFirst(try sendSome(rest))
        }
    }

    /// Sends as many bytes as the socket takes at once, and returns their number.
    public func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        guard count < 0 else { return count }
        guard errno == EAGAIN || errno == EINTR else { throw SystemCallFailure("send") }
        return 0
    }

    /// Sends text and the NUL that ends a message.
    public func send(message: String, until deadline: Deadline = Deadline()) throws {
        try send(Array(message.utf8) + [0], until: deadline)
    }

    /// The next message without its NUL; nil if the peer has closed the connection and nothing is left.
    public func nextMessage(until deadline: Deadline = Deadline()) throws -> String? {
        var searched = 0
        while true {
            if let end = firstNull(from: searched) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            searched = received.count
            guard try receive(until: deadline) else {
                guard received.isEmpty else { throw Cut(rest: received) }
                return nil
            }
        }
    }

    /// The next message; throws if the connection was closed instead.
    public func message(until deadline: Deadline = Deadline()) throws -> String {
        guard let message = try nextMessage(until: deadline) else {
            throw SystemCallFailure("message", code: ECONNRESET)
        }
        return message
    }

    /// Sends a message and returns the reply.
    public func exchange(_ message: String, until deadline: Deadline = Deadline()) throws -> String {
        try send(message: message, until: deadline)
        return try self.message(until: deadline)
    }

    /// Closes the writing side.
    public func closeWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the reading side.
    public func closeReading() {
        shutdown(descriptor, Int32(SHUT_RD))
    }

    /// The complete messages that have arrived, without waiting, and whether the peer has closed the connection.
    public func arrivedMessages() throws -> (messages: [String], isClosed: Bool) {
        var isClosed = false
        var buffer = [UInt8](repeating: 0, count: portion)
        while !isClosed {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count >= 0 || errno == ECONNRESET else { throw SystemCallFailure("recv") }
            received += buffer[..<max(0, count)]
            isClosed = count <= 0
        }
        var messages = received.split(separator: 0, omittingEmptySubsequences: false)
        received = Array(messages.removeLast())
        return (messages.map { String(decoding: $0, as: UTF8.self) }, isClosed)
    }

    /// Waits until at least one of the connections has input or was closed by its peer.
    ///
    /// - Returns: the indices of those connections.
    public static func awaitInput(
        on connections: [RawConnection],
        until deadline: Deadline = Deadline()
    ) throws -> Set<Int> {
        try poll(
            connections.map(\.descriptor),
            until: deadline,
            waitingFor: "input on one of \(connections.count) connections"
        )
    }

    private func firstNull(from start: Int) -> Int? {
        received.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count else { return nil }
            return memchr(base + start, 0, bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// - Returns: false if the peer has closed the connection.
    private func receive(until deadline: Deadline) throws -> Bool {
        _ = try poll([descriptor], until: deadline, waitingFor: "a message, with \(received.count) bytes of it here")
        var buffer = [UInt8](repeating: 0, count: portion)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw SystemCallFailure("recv") }
        received += buffer[..<count]
        return count > 0
    }

    /// The connection was closed within a message.
    public struct Cut: Error, CustomStringConvertible {
        /// The bytes of the incomplete message.
        public let rest: [UInt8]

        /// The length of the incomplete message and its beginning.
        public var description: String {
            "closed within a message: \(rest.count) bytes, \(String(decoding: rest.prefix(100), as: UTF8.self))…"
        }
    }
}

/// A daemon that clients can connect to, in a process of its own or in this one.
public protocol Reachable {
    /// A new connection to it.
    func connect() throws -> RawConnection
}
