import Glibc
import Varlink

/// A connection to the daemon, for programs that may block.
///
/// One call is followed at a time: a call that is made while replies to the one before are still to come drops them, and
/// is itself answered only after them. After an error other than a refusal the connection is of no more use.
public struct Client: ~Copyable {
    /// The longest reply that is taken, in bytes: far above what a daemon holds for one client.
    static let messageLimit = 16 << 20

    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: Client.messageLimit)
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The number of the call that is followed.
    private var current = 0

    /// For poll(2): readable when there may be a reply. A loop takes replies with a deadline that has passed until there
    /// is none, and only then polls again: more than one may have been received at once.
    public var descriptor: Int32 { socket.descriptor }

    /// Connects to the daemon whose socket is at `path`.
    public init(connectingTo path: String) throws(ClientError) {
        do {
            socket = try StreamSocket(connectingTo: path)
        } catch {
            throw .unreachable(path: path, errno: error.code)
        }
    }

    /// Speaks over a descriptor that is connected, and closes it in the end.
    init(adopting descriptor: Int32) {
        socket = StreamSocket(adopting: descriptor)
    }

    /// Makes a call and waits for its one reply.
    public mutating func call<M: Method>(_ method: M) throws(ClientError) -> M.Reply {
        try start(method)
        while true {
            if let (reply, _) = try nextReply(to: M.self, until: nil) { return reply }
        }
    }

    /// Makes a call that is not answered, not even with an error.
    public mutating func call<M: Method>(oneway method: M) throws(ClientError) {
        session.call(M.fullName, oneway: true, method)
        guard try send() else { throw .disconnected }
    }

    /// Makes a call whose one reply `nextReply` takes.
    public mutating func start<M: Method>(_ method: M) throws(ClientError) {
        current = session.call(M.fullName, method)
        _ = try send()
    }

    /// Makes a call whose replies, any number, `nextReply` takes.
    public mutating func start<M: Method>(streaming method: M) throws(ClientError) {
        current = session.call(M.fullName, more: true, method)
        _ = try send()
    }

    /// The next reply to the call that was started last, and whether more follow; nil where the deadline passed before,
    /// and the call is still to be answered. It must not be asked for when no more follow.
    public mutating func nextReply<M: Method>(
        to method: M.Type,
        until deadline: Deadline? = nil
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        precondition(session.unanswered > 0, "no reply is to come: the last one said so")
        while true {
            if let reply = try received() { return (try reply.result(of: M.self), reply.continues) }
            guard try receive(until: deadline) else { return nil }
        }
    }
}

extension Client {
    /// Sends what the session holds; false where the daemon has hung up. It may have said why before it did, so that is
    /// no error where a reply is to be received.
    private mutating func send() throws(ClientError) -> Bool {
        while session.unsent > 0 {
            do {
                try session.sendSome(over: socket)
            } catch {
                guard error.isDisconnect else { throw .failed(errno: error.code) }
                return false
            }
        }
        return true
    }

    /// Waits for bytes and gives them to the session; false where the deadline passed before.
    private mutating func receive(until deadline: Deadline?) throws(ClientError) -> Bool {
        let count: Int
        do {
            if let deadline, try !socket.isReadable(until: deadline) { return false }
            count = try session.receiveSome(over: socket, through: &buffer)
        } catch {
            throw error.isDisconnect ? .disconnected : .failed(errno: error.code)
        }
        guard count > 0 else { throw .disconnected }
        return true
    }

    /// The next reply to the call that is followed, of those that were received.
    private mutating func received() throws(ClientError) -> Varlink.Reply? {
        do {
            while let reply = try session.next() {
                if reply.call == current { return reply }
            }
            return nil
        } catch {
            throw .protocolViolation(error)
        }
    }
}

extension Errno {
    /// Whether the peer is gone.
    fileprivate var isDisconnect: Bool { code == EPIPE || code == ECONNRESET }
}
