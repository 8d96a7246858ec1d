import Glibc
public import System
public import Varlink

/// A connection to the daemon for programs that may block.
///
/// One call is answered at a time. A call that is made before the last reply to the previous one drops the rest of its
/// replies. After any error other than ``ClientError/countdown(_:)`` and ``ClientError/service(_:)`` the connection cannot
/// be used any more.
public struct Client: ~Copyable {
    /// An instant of the monotonic clock up to which a call waits.
    public typealias Deadline = MonotonicDeadline

    private var connection: ClientConnection

    /// For poll(2): readable if there may be a reply. An event loop calls ``nextReply(to:until:)`` with a deadline that has
    /// passed until it returns nil, and polls again only then, because several replies may have been received at once.
    public var descriptor: Int32 { connection.descriptor }

    /// Connects to the daemon whose socket is at `path`.
    ///
    /// - Throws: ``ClientError/unreachable(path:errno:)``.
    public init(connectingTo path: String) throws(ClientError) {
        connection = try ClientConnection(connectingTo: path, blocking: true)
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
    ///   - deadline: how long to wait; nil waits forever.
    /// - Returns: the reply and whether more follow; nil if the deadline passed first.
    /// - Throws: the error that the daemon answered, or why no reply arrived.
    public mutating func nextReply<M: Method>(
        to method: M.Type,
        until deadline: Deadline? = nil
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        precondition(connection.isUnanswered, "the last reply said that no other follows")
        while true {
            if let reply = try connection.received(M.self) { return reply }
            if let deadline, try !connection.isReadable(until: deadline) { return nil }
            guard try connection.receive() != .hungUp else { throw connection.hangup }
        }
    }

    /// Sends the calls that were not sent yet; false if the daemon has closed the connection. The daemon may have sent the
    /// reason before it did, so this is not an error if a reply is expected.
    private mutating func send() throws(ClientError) -> Bool {
        while connection.hasUnsent {
            guard try connection.send() != .hungUp else { return false }
        }
        return true
    }
}

/// Why a call to the daemon has no reply, or an error as its reply.
public enum ClientError: Error, Equatable {
    /// Nothing accepted the connection to that path. With ENOENT and ECONNREFUSED no daemon is there.
    case unreachable(path: String, errno: Int32)
    /// The connection was closed before the reply.
    case disconnected
    /// The daemon closed the connection because a call had this many bytes, more than ``Interface/callLimit``.
    case callTooLong(bytes: Int)
    /// A system call on the connection failed.
    case failed(errno: Int32)
    /// The daemon answered with an error of its interface.
    case countdown(CountdownError)
    /// The daemon answered with an error of the Varlink protocol.
    case service(ServiceError)
    /// The daemon answered with an error that this client does not know: it is newer, or it is another service.
    case unknownError(name: String)
    /// The bytes that were received are not a reply.
    case protocolViolation(ProtocolViolation)
    /// A member of the reply is missing or has the wrong type.
    case invalidReply(method: String, member: String)
}

extension ClientError: CustomStringConvertible {
    /// What went wrong, in one sentence.
    public var description: String {
        switch self {
        case .unreachable(let path, let code): "no daemon at \(PrintableText.escape(path)): \(systemMessage(code))"
        case .disconnected: "the daemon closed the connection"
        case .callTooLong(let bytes):
            "the call has \(bytes) bytes, and the daemon accepts at most \(Interface.callLimit)"
        case .failed(let code): "the connection to the daemon failed: \(systemMessage(code))"
        case .countdown(.limitReached(let limit, let maximum)): "the daemon's limit \(limit) of \(maximum) is reached"
        case .countdown(.storageFailed(let reason)):
            "the daemon cannot store the change: \(PrintableText.escape(reason))"
        case .countdown(let error): "the daemon refused the call: \(error.name.rawValue)"
        case .service(.permissionDenied): "the daemon serves another user"
        case .service(let error): "the daemon refused the call: \(error)"
        case .unknownError(let name): "the daemon answered with the unknown error \(PrintableText.escape(name))"
        case .protocolViolation, .invalidReply: "the service does not speak the protocol of countdownd"
        }
    }
}
