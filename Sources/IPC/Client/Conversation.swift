import Glibc
import Varlink

/// A connection and the calls on it, whether its socket blocks or not. One call is followed at a time: replies to the
/// ones before are dropped.
struct Conversation: ~Copyable {
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

extension Conversation.Progress {
    /// What a call of the socket that failed has come to.
    fileprivate init(_ error: Errno) throws(ClientError) {
        switch error.code {
        case EAGAIN: self = .blocked
        case EPIPE, ECONNRESET: self = .hungUp
        default: throw .failed(errno: error.code)
        }
    }
}
