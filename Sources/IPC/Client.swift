import Glibc
public import Varlink

/// A connection to the daemon, for programs that may block.
///
/// One call is followed at a time: a call that is made while replies to the one before are still to come drops them, and
/// is itself answered only after them. After an error other than a refusal the connection is of no more use.
public struct Client: ~Copyable {
    /// The longest reply that is taken, in bytes: far above what a daemon holds for one client.
    static let messageLimit = 16 << 20

    private var connection: ClientConnection

    /// For poll(2): readable when there may be a reply. A loop takes replies with a deadline that has passed until there
    /// is none, and only then polls again: more than one may have been received at once.
    public var descriptor: Int32 { connection.descriptor }

    /// Connects to the daemon whose socket is at `path`.
    public init(connectingTo path: String) throws(ClientError) {
        connection = try ClientConnection(connectingTo: path, blocking: true)
    }

    /// Speaks over a descriptor that is connected, and closes it in the end.
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

    /// Makes a call that is not answered, not even with an error.
    public mutating func call<M: Method>(oneway method: M) throws(ClientError) {
        connection.call(method, oneway: true)
        guard try send() else { throw connection.hangup }
    }

    /// Makes a call whose one reply `nextReply` takes.
    public mutating func start<M: Method>(_ method: M) throws(ClientError) {
        connection.call(method)
        _ = try send()
    }

    /// Makes a call whose replies, any number, `nextReply` takes.
    public mutating func start<M: Method>(streaming method: M) throws(ClientError) {
        connection.call(method, more: true)
        _ = try send()
    }

    /// The next reply to the call that was started last, and whether more follow; nil where the deadline passed before,
    /// and the call is still to be answered. It must not be asked for when no more follow.
    public mutating func nextReply<M: Method>(
        to method: M.Type,
        until deadline: Deadline? = nil
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        precondition(connection.isUnanswered, "no reply is to come: the last one said so")
        while true {
            if let reply = try connection.received(M.self) { return reply }
            if let deadline, try !connection.isReadable(until: deadline) { return nil }
            guard try connection.receive() != .hungUp else { throw connection.hangup }
        }
    }

    /// Sends what is unsent; false where the daemon has hung up. It may have said why before it did, so that is no error
    /// where a reply is to be received.
    private mutating func send() throws(ClientError) -> Bool {
        while connection.hasUnsent {
            guard try connection.send() != .hungUp else { return false }
        }
        return true
    }
}

/// Why a call to the daemon has no reply, or not the one that was asked for.
public enum ClientError: Error, Equatable {
    /// Nothing could be connected to at that path; ENOENT and ECONNREFUSED: no daemon is there.
    case unreachable(path: String, errno: Int32)
    /// The connection broke off before the reply.
    case disconnected
    /// The daemon hung up on a call of so many bytes, more than `Interface.callLimit`.
    case callTooLong(bytes: Int)
    /// A system call on the connection failed.
    case failed(errno: Int32)
    /// The daemon refused, for a reason of its interface.
    case countdown(CountdownError)
    /// The daemon refused, for a reason of the protocol.
    case service(ServiceError)
    /// The daemon answered an error that this client does not know: a newer daemon, or another service.
    case unknownError(name: String)
    /// What came is no reply.
    case protocolViolation(ProtocolViolation)
    /// A member of the reply is missing or of the wrong type.
    case invalidReply(method: String, member: String)
}

extension Client {
    /// An instant of the monotonic clock up to which a caller waits; setting the system clock does not move it.
    public struct Deadline: Sendable, Hashable {
        /// Microseconds of CLOCK_MONOTONIC.
        public let monotonicUSec: Int64

        public init(monotonicUSec: Int64) {
            self.monotonicUSec = monotonicUSec
        }

        /// So many microseconds from now; the past where it is negative.
        public static func after(microseconds: Int64) -> Deadline {
            let (sum, overflow) = now.addingReportingOverflow(microseconds)
            return Deadline(monotonicUSec: overflow ? .max : sum)
        }

        /// One that has passed: what is there is taken, nothing is waited for.
        public static let passed = Deadline(monotonicUSec: .min)

        /// How many microseconds remain until then, 0 where it has passed.
        public var remainingUSec: Int64 {
            let now = Deadline.now
            return monotonicUSec > now ? monotonicUSec - now : 0
        }

        /// How long poll(2) is to wait for it, in milliseconds.
        var pollTimeout: Int32 { Deadline.milliseconds(of: remainingUSec) }

        /// Whole milliseconds, rounded up, so that nobody is woken too early.
        static func milliseconds(of microseconds: Int64) -> Int32 {
            Int32(clamping: microseconds / 1000 + (microseconds % 1000 == 0 ? 0 : 1))
        }

        private static var now: Int64 {
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        }
    }
}
