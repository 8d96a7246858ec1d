import Glibc
import Varlink

/// A connection and the calls on it, whether its socket blocks or not. One call is followed at a time: replies to the
/// ones before are dropped.
struct ClientConnection: ~Copyable {
    /// What the socket made of an attempt.
    enum Progress {
        /// Some bytes went.
        case some
        /// None can go now; a socket that blocks waits instead.
        case blocked
        /// The daemon is gone, or sends no more.
        case hungUp
    }

    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: Client.messageLimit)
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The number of the call that is followed.
    private var current = 0
    /// The bytes of the longest call so far.
    private var longest = 0

    /// Connects to the daemon whose socket is at `path`.
    init(connectingTo path: String, blocking: Bool) throws(ClientError) {
        do {
            socket = try StreamSocket(connectingTo: path, blocking: blocking)
        } catch {
            throw .unreachable(path: path, errno: error.code)
        }
    }

    /// Speaks over a descriptor that is connected, and closes it in the end.
    init(adopting descriptor: Int32) {
        socket = StreamSocket(adopting: descriptor)
    }

    var descriptor: Int32 { socket.descriptor }

    /// Whether a reply is to come.
    var isUnanswered: Bool { session.unanswered > 0 }

    /// Whether there are bytes of calls that were not sent yet.
    var hasUnsent: Bool { session.unsent > 0 }

    /// Why no reply will come, where the daemon has hung up.
    var hangup: ClientError { longest > Interface.callLimit ? .callTooLong(bytes: longest) : .disconnected }

    /// Writes a call, which is to be sent; it is followed from now on, unless there is no reply to it.
    mutating func call<M: Method>(_ method: M, more: Bool = false, oneway: Bool = false) {
        let before = session.unsent
        let call = session.call(M.fullName, more: more, oneway: oneway, method)
        longest = max(longest, session.unsent - before - 1)
        if !oneway { current = call }
    }

    /// Sends some of what is unsent. Where the daemon has hung up it may have said why before it did.
    mutating func send() throws(ClientError) -> Progress {
        do {
            try session.sendSome(over: socket)
            return .some
        } catch {
            return try Progress(error)
        }
    }

    /// Receives some bytes.
    mutating func receive() throws(ClientError) -> Progress {
        do {
            return try session.receiveSome(over: socket, through: &buffer) > 0 ? .some : .hungUp
        } catch {
            return try Progress(error)
        }
    }

    /// Waits until there is something to receive; false where the deadline passed before.
    func isReadable(until deadline: Client.Deadline) throws(ClientError) -> Bool {
        do {
            return try socket.isReadable(until: deadline)
        } catch {
            throw .failed(errno: error.code)
        }
    }

    /// The next reply to the call that is followed, and whether more follow, of those that were received; nil where there
    /// is none.
    mutating func received<M: Method>(_ method: M.Type) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while let reply = try nextReply() {
            if reply.call == current { return (try reply.result(of: M.self), reply.continues) }
        }
        return nil
    }

    private mutating func nextReply() throws(ClientError) -> Reply? {
        do {
            return try session.next()
        } catch {
            throw .protocolViolation(error)
        }
    }
}

extension ClientConnection.Progress {
    /// What a call of the socket that failed has come to.
    fileprivate init(_ error: Errno) throws(ClientError) {
        switch error.code {
        case EAGAIN: self = .blocked
        case EPIPE, ECONNRESET: self = .hungUp
        default: throw .failed(errno: error.code)
        }
    }
}

extension Reply {
    /// What the reply says to a call of the method: its result, or the error thrown.
    func result<M: Method>(of method: M.Type) throws(ClientError) -> M.Reply {
        if let error { throw refusal(error, of: M.fullName) }
        do {
            return try M.Reply(decoding: parameters)
        } catch {
            throw .invalidReply(method: M.fullName, member: error.parameter)
        }
    }

    private func refusal(_ error: String, of method: String) -> ClientError {
        if let error = ServiceError(self) { return .service(error) }
        guard let name = CountdownError.Name(rawValue: error) else { return .unknownError(name: error) }
        do {
            return .countdown(try CountdownError(name, decoding: parameters))
        } catch {
            return .invalidReply(method: method, member: error.parameter)
        }
    }
}

extension ClientSession {
    /// Sends some of what is unsent.
    mutating func sendSome(over socket: borrowing StreamSocket) throws(Errno) {
        try withUnsent { bytes throws(Errno) in try socket.send(bytes) }
    }

    /// Receives bytes and takes them, as many at once as the buffer holds; how many, 0 where the peer sends no more.
    mutating func receiveSome(
        over socket: borrowing StreamSocket,
        through buffer: inout [UInt8]
    ) throws(Errno) -> Int {
        let count = try socket.receive(into: &buffer)
        receive(buffer.span.extracting(0..<count))
        return count
    }
}

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

/// The address of a Unix socket as system calls take it.
struct SocketAddress: Sendable {
    private let address: sockaddr_un

    /// Nil for a path that is empty, longer than `Address.pathLimit` or holds a NUL: unix(7) would take the first and the
    /// last for names of another kind, which are in no directory.
    init?(path: String) {
        guard (1...Address.pathLimit).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        self.address = address
    }

    /// Hands the address to a system call; the pointer is good inside the body alone.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
