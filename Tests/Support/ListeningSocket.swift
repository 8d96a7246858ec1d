import Glibc

/// A listening socket, to pass to a daemon as a service manager would, or to stand in for a daemon.
public final class ListeningSocket {
    /// The path of the socket.
    public let path: String
    /// The listening descriptor.
    public let descriptor: Int32

    /// Listens at a path where no file exists.
    public init(path: String) throws {
        self.path = path
        descriptor = try makeSocket(SOCK_STREAM)
        try withSocketAddress(of: path) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw SystemCallFailure("bind \(path)") }
        }
        guard listen(descriptor, 64) == 0 else { throw SystemCallFailure("listen") }
    }

    deinit {
        close(descriptor)
    }

    /// The next connection.
    public func accept(until deadline: Deadline = Deadline()) throws -> RawConnection {
        _ = try poll([descriptor], until: deadline, waitingFor: "a connection")
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0, fcntl(accepted, F_SETFD, FD_CLOEXEC) == 0 else { throw SystemCallFailure("accept") }
        return RawConnection(connected: accepted)
    }
}
