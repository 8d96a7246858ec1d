import CLinux
import Glibc

/// The address of a Unix socket.
public enum SocketAddress {
    /// The longest path of a Unix socket in bytes: `sun_path` of unix(7) without the NUL at its end.
    public static let pathLimit = 107

    /// Whether a socket can have a path: false if it is empty, longer than `pathLimit` or contains a NUL. unix(7) takes an
    /// empty path and one that begins with NUL for addresses without a file.
    public static func isPath(_ path: String) -> Bool {
        (1...pathLimit).contains(path.utf8.count) && !path.utf8.contains(0)
    }
}

/// A connected Unix stream socket with one owner, which closes it. Its calls are repeated if a signal interrupts them, and
/// they never raise SIGPIPE.
public struct StreamSocket: ~Copyable {
    private let owned: Descriptor

    /// The descriptor, for poll(2).
    public var descriptor: Int32 { owned.number }

    /// Takes over a connected descriptor.
    public init(adopting descriptor: Int32) { owned = Descriptor(adopting: descriptor) }

    /// Connects to the socket at a path. Programs that this process executes do not inherit the descriptor. If it does
    /// not block, `send` and `receive` throw EAGAIN, and so do these and connecting after the timeout, if there is one.
    /// Throws ENAMETOOLONG or EINVAL if no socket can have this path.
    public init(connectingTo path: String, blocking: Bool, timeoutUSec: Int64? = nil) throws(SystemFailure) {
        guard SocketAddress.isPath(path) else {
            let isTooLong = path.utf8.count > SocketAddress.pathLimit
            throw SystemFailure("connect", code: isTooLong ? ENAMETOOLONG : EINVAL)
        }
        let flags = SOCK_CLOEXEC.rawValue | (blocking ? 0 : SOCK_NONBLOCK.rawValue)
        let owned = try Descriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0), of: "socket")
        let descriptor = owned.number
        if let timeoutUSec {
            var time = timeval(tv_sec: Int(timeoutUSec / 1_000_000), tv_usec: Int(timeoutUSec % 1_000_000))
            for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
                _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
            }
        }
        _ = try restarting("connect") { unsafe Int(linux_unix_connect(descriptor, path)) }
        self.owned = owned
    }

    /// Sends some of the bytes, at least one, and returns how many.
    public func send(_ bytes: Span<UInt8>) throws(SystemFailure) -> Int {
        try restarting("send") {
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Receives bytes into the start of the buffer, and returns how many; 0 if the peer has closed the connection.
    public func receive(into buffer: inout [UInt8]) throws(SystemFailure) -> Int {
        try restarting("recv") {
            unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Waits until there is something to receive, or the peer has closed the connection; false if the deadline passed
    /// before.
    public func isReadable(until deadline: MonotonicDeadline) throws(SystemFailure) -> Bool {
        while true {
            let ready = try restarting("poll") {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return unsafe Int(poll(&request, 1, deadline.pollTimeout))
            }
            if ready > 0 { return true }
            if deadline.hasPassed { return false }
        }
    }
}
