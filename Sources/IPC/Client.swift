import Glibc
public import System

/// A connection to the daemon for programs that may block.
///
/// One call is answered at a time. A call that is made before the last reply to the previous one drops the rest of its
/// replies. After any error other than ``ClientError/countdown(_:)`` and ``ClientError/service(_:)`` the connection cannot
/// be used any more.
public struct Client: ~Copyable {
    /// An instant of the monotonic clock up to which a call waits. Other packages name it so, because System is not a
    /// product of this one.
    public typealias Deadline = MonotonicDeadline

    private var connection: ClientConnection

    /// For poll(2): readable if there may be a reply. An event loop calls ``nextReply(to:until:)`` with a deadline that has
    /// passed until it returns nil, and polls again only then, because several replies may have been received at once.
    public var descriptor: Int32 { connection.descriptor }

    /// Connects to the daemon with the socket at `path`.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - timeoutUSec: how long connecting, sending a call and receiving its reply each wait for the daemon, in
    ///     microseconds; nil waits forever. A daemon that does not answer in time is the error
    ///     ``ClientError/failed(errno:)`` with ETIMEDOUT. A wait with a deadline of its own has no other limit.
    /// - Throws: ``ClientError/unreachable(path:errno:)``.
    public init(connectingTo path: String, timeoutUSec: Int64? = nil) throws(ClientError) {
        connection = try ClientConnection(connectingTo: path, blocking: true, timeoutUSec: timeoutUSec)
    }

    /// Takes over a connected descriptor.
    init(adopting descriptor: Int32) {
        connection = ClientConnection(adopting: descriptor)
    }

    /// Makes a call and waits for its one reply.
    public mutating func call<M: Method>(_ method: M) throws(ClientError) -> M.Reply {
        try start(method)
        while true {
            if let (reply, _) = try nextReply(to: M.self, until: nil) { return reply }
        }
    }

    /// Makes a call that the daemon does not answer, not even with an error.
    public mutating func call<M: Method>(oneway method: M) throws(ClientError) {
        connection.call(method, oneway: true)
        guard try send() else { throw connection.hangup }
    }

    /// Makes a call; ``nextReply(to:until:)`` returns its one reply.
    public mutating func start<M: Method>(_ method: M) throws(ClientError) {
        connection.call(method)
        _ = try send()
    }

    /// Makes a call with any number of replies, which ``nextReply(to:until:)`` returns.
    public mutating func start<M: Method>(streaming method: M) throws(ClientError) {
        connection.call(method, more: true)
        _ = try send()
    }

    /// Waits for the next reply to the last call that was started. It must not be called after a reply without
    /// `continues`.
    ///
    /// - Parameters:
    ///   - method: the method that was called.
    ///   - deadline: how long to wait; nil waits forever, or for the timeout of the connection.
    /// - Returns: the reply and whether more follow; nil if the deadline passed first.
    /// - Throws: the error that the daemon answered, or why no reply arrived.
    public mutating func nextReply<M: Method>(
        to method: M.Type,
        until deadline: MonotonicDeadline? = nil
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        precondition(connection.isUnanswered, "the last reply said that no other follows")
        while true {
            if let reply = try connection.received(M.self) { return reply }
            if let deadline, try !connection.isReadable(until: deadline) { return nil }
            switch try connection.receive() {
            case .some: break
            case .blocked: if deadline == nil { throw .failed(errno: ETIMEDOUT) }
            case .hungUp: throw connection.hangup
            }
        }
    }

    /// Sends the calls that were not sent yet; false if the daemon has closed the connection. The daemon may have sent the
    /// reason before it did, so this is not an error if a reply is expected.
    private mutating func send() throws(ClientError) -> Bool {
        while connection.hasUnsent {
            switch try connection.send() {
            case .some: break
            case .blocked: throw .failed(errno: ETIMEDOUT)
            case .hungUp: return false
            }
        }
        return true
    }
}
