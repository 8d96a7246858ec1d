import Glibc
import System
import Varlink

/// A connection to the daemon and the calls on it. The socket may block or not. One call is answered at a time: replies to
/// earlier calls are dropped.
struct ClientConnection: ~Copyable {
    /// The result of an attempt to send or receive.
    enum Transfer {
        /// Some bytes were sent or received.
        case some
        /// Nothing can be sent or received now. A blocking socket waits before, forever or for its timeout.
        case blocked
        /// The daemon has closed the connection.
        case hungUp
    }

    /// The longest reply in bytes, far above the daemon's buffer for one client.
    static let messageLimit = 16 << 20

    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: messageLimit)
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The number of the call of which replies are returned.
    private var current = 0
    /// The length of the longest call so far, in bytes.
    private var longestCall = 0

    /// Connects to the daemon with the socket at `path`.
    init(connectingTo path: String, blocking: Bool, timeoutUSec: Int64? = nil) throws(ClientError) {
        do {
            socket = try StreamSocket(connectingTo: path, blocking: blocking, timeoutUSec: timeoutUSec)
        } catch {
            throw .unreachable(path: path, errno: error.code)
        }
    }

    /// Takes over a connected descriptor.
    init(adopting descriptor: Int32) {
        socket = StreamSocket(adopting: descriptor)
    }

    var descriptor: Int32 { socket.descriptor }

    /// Whether a reply is still to come.
    var isUnanswered: Bool { session.unanswered > 0 }

    /// Whether calls are waiting to be sent.
    var hasUnsent: Bool { session.unsent > 0 }

    /// The error if the daemon has closed the connection.
    var hangup: ClientError { longestCall > Interface.callLimit ? .callTooLong(bytes: longestCall) : .disconnected }

    /// Encodes a call for `send`. Its replies are returned from now on.
    mutating func call<M: Method>(_ method: M, more: Bool = false) {
        let before = session.unsent
        current = session.call(M.fullName, more: more, method)
        longestCall = max(longestCall, session.unsent - before - 1)
    }

    /// Sends some of the calls. If the daemon has closed the connection it may have sent the reason before.
    mutating func send() throws(ClientError) -> Transfer {
        do {
            try session.sendSome(over: socket)
            return .some
        } catch {
            return try Transfer(error)
        }
    }

    /// Receives some bytes.
    mutating func receive() throws(ClientError) -> Transfer {
        do {
            return try session.receiveSome(over: socket, through: &buffer) > 0 ? .some : .hungUp
        } catch {
            return try Transfer(error)
        }
    }

    /// Waits until there is something to receive; false if the deadline passed first.
    func isReadable(until deadline: MonotonicDeadline) throws(ClientError) -> Bool {
        do {
            return try socket.isReadable(until: deadline)
        } catch {
            throw .failed(errno: error.code)
        }
    }

    /// The next reply to the current call that was received, and whether more follow; nil if no reply has arrived.
    mutating func received<M: Method>(_ method: M.Type) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while let reply = try nextReply() {
            if reply.call == current { return (try reply.result(of: M.self), reply.continues) }
        }
        return nil
    }

    /// Receives until there is a reply to the current call. A blocking socket waits until the deadline, or without one, forever or for
    /// its timeout.
    ///
    /// - Returns: the reply and whether more follow; nil if nothing more can be received now.
    mutating func reply<M: Method>(
        to method: M.Type,
        until deadline: MonotonicDeadline?
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while true {
            if let reply = try received(method) { return reply }
            if let deadline, try !isReadable(until: deadline) { return nil }
            switch try receive() {
            case .some: break
            case .blocked: if deadline?.hasPassed ?? true { return nil }
            case .hungUp: throw hangup
            }
        }
    }

    private mutating func nextReply() throws(ClientError) -> Reply? {
        do {
            return try session.next()
        } catch {
            throw .protocolViolation(error)
        }
    }
}

extension ClientSession {
    /// Sends some of the unsent bytes.
    fileprivate mutating func sendSome(over socket: borrowing StreamSocket) throws(SystemFailure) {
        try withUnsent { bytes throws(SystemFailure) in try socket.send(bytes) }
    }

    /// Receives as many bytes as the buffer holds.
    ///
    /// - Returns: how many; 0 if the peer has closed the connection.
    fileprivate mutating func receiveSome(
        over socket: borrowing StreamSocket,
        through buffer: inout [UInt8]
    ) throws(SystemFailure) -> Int {
        let count = try socket.receive(into: &buffer)
        receive(buffer.span.extracting(0..<count))
        return count
    }
}

extension ClientConnection.Transfer {
    /// The result that the failure of a call on the socket stands for.
    fileprivate init(_ failure: SystemFailure) throws(ClientError) {
        switch failure.code {
        case EAGAIN: self = .blocked
        case EPIPE, ECONNRESET: self = .hungUp
        default: throw .failed(errno: failure.code)
        }
    }
}

extension Reply {
    /// The result of a call of the method; throws if the reply is an error.
    fileprivate func result<M: Method>(of method: M.Type) throws(ClientError) -> M.Reply {
        if let error { throw clientError(error, of: M.fullName) }
        do {
            return try parameters()
        } catch {
            throw .invalidReply(method: M.fullName, member: error.parameter)
        }
    }

    private func clientError(_ error: String, of method: String) -> ClientError {
        if let error = ServiceError(self) { return .service(error) }
        guard let name = CountdownError.WireName(rawValue: error) else { return .unknownError(name: error) }
        do {
            return .countdown(
                try readParameters { reader throws(InvalidParameter) in try CountdownError(name, from: &reader) }
            )
        } catch {
            return .invalidReply(method: method, member: error.parameter)
        }
    }
}
