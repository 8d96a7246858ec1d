import Glibc

/// The socket on which a service manager would listen: the daemon's sd_notify messages arrive here.
public final class NotificationSocket {
    /// The path for `NOTIFY_SOCKET`.
    public let path: String

    /// Every assignment so far, in order, such as `READY=1`.
    public private(set) var received: [String] = []
    private var passed = 0
    private let descriptor: Int32

    /// Receives at a path where no file exists.
    public init(path: String) throws {
        self.path = path
        descriptor = try makeSocket(SOCK_DGRAM)
        try withSocketAddress(of: path) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw SystemCallFailure("bind \(path)") }
        }
    }

    deinit {
        close(descriptor)
    }

    /// The next assignment with this prefix; `received` keeps those before it. If the child ends first, the wait fails
    /// at once.
    @discardableResult
    public func await(
        _ prefix: String,
        from child: ChildProcess,
        until deadline: Deadline = Deadline()
    ) throws -> String {
        while true {
            if let found = received[passed...].firstIndex(where: { $0.hasPrefix(prefix) }) {
                passed = found + 1
                return received[found]
            }
            passed = received.count
            let ready = try poll([descriptor, child.ended], until: deadline, waitingFor: "the notification \(prefix)")
            guard ready.contains(0) else { throw Ended(awaited: prefix, ending: try child.wait()) }
            received += try receive()
        }
    }

    /// Sends a datagram to the socket, as a daemon would.
    public func pretend(_ assignments: String) throws {
        let sender = try makeSocket(SOCK_DGRAM)
        defer { close(sender) }
        try withSocketAddress(of: path) { address, length in
            let sent = sendto(sender, assignments, assignments.utf8.count, 0, address, length)
            guard sent == assignments.utf8.count else { throw SystemCallFailure("sendto \(path)") }
        }
    }

    /// Sends datagrams to the socket until it is full, as if a service manager were busy.
    public func fill() throws {
        let sender = try makeSocket(SOCK_DGRAM)
        defer { close(sender) }
        try withSocketAddress(of: path) { address, length in
            while sendto(sender, "X=1", 3, Int32(MSG_DONTWAIT), address, length) == 3 {}
            guard errno == EAGAIN else { throw SystemCallFailure("sendto \(path)") }
        }
    }

    private func receive() throws -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemCallFailure("recv") }
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The process ended without the notification.
    public struct Ended: Error, CustomStringConvertible {
        let awaited: String
        let ending: ChildProcess.Ending

        /// The end of the process and the missing notification.
        public var description: String { "\(ending) without \(awaited)" }
    }
}
