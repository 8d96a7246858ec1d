import Glibc

/// A connected Unix stream socket that closes itself. Its calls begin again where a signal interrupted them, and never
/// raise SIGPIPE; they block, or throw EAGAIN where the socket was connected so.
struct StreamSocket: ~Copyable {
    let descriptor: Int32

    /// Takes over a descriptor that is connected.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to the socket at `path`, for this process alone: a program that it executes does not inherit it.
    ///
    /// - Throws: the errno of socket(2) or connect(2), ENAMETOOLONG or EINVAL for a path that no socket can have.
    init(connectingTo path: String, blocking: Bool) throws(Errno) {
        guard let address = SocketAddress(path: path) else {
            throw Errno(code: path.utf8.count > Address.pathLimit ? ENAMETOOLONG : EINVAL)
        }
        let flags = SOCK_CLOEXEC.rawValue | (blocking ? 0 : SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0)
        guard descriptor >= 0 else { throw Errno(code: errno) }
        do {
            _ = try restarting { unsafe address.withPointer { unsafe Int(connect(descriptor, $0, $1)) } }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends some of the bytes, at least one, and returns how many.
    func send(_ bytes: Span<UInt8>) throws(Errno) -> Int {
        try restarting {
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Receives bytes and returns how many now stand at the start of the buffer; 0 where the peer sends no more.
    func receive(into buffer: inout [UInt8]) throws(Errno) -> Int {
        try restarting {
            unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Waits until there is something to receive, be it the end; false where the deadline passed before.
    func isReadable(until deadline: Client.Deadline) throws(Errno) -> Bool {
        while true {
            let ready = try restarting {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return unsafe Int(poll(&request, 1, deadline.pollTimeout))
            }
            if ready > 0 { return true }
            // poll(2) waits for 24 days at most.
            if deadline.pollTimeout == 0 { return false }
        }
    }
}

/// Makes a system call, again where a signal interrupted it.
private func restarting(_ call: () -> Int) throws(Errno) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw Errno(code: errno) }
    }
}
