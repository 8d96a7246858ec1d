/// The countdowns of a daemon, for programs that do not block: calls to await, and events as an asynchronous sequence.
///
/// Each call and each watch is a connection of its own, so that none waits for another. A task that is cancelled closes
/// its connection at once; a call then throws `CancellationError`, and whether the daemon has done what was asked is not
/// known. All else that a call throws is a ``ClientError``.
public struct Countdowns: Sendable {
    /// The path of the daemon's socket.
    public let path: String

    /// Those of the daemon that this user's clients speak to: at `$COUNTDOWND_SOCKET`, else in the runtime directory.
    ///
    /// - Throws: what is wrong with the variable's path or with the directory.
    public init() throws(Address.Failure) {
        path = try Address.forClient().path
    }

    /// Those of the daemon whose socket is at `path`.
    public init(at path: String) {
        self.path = path
    }

    /// Makes a call and waits for its one reply.
    public func call<M: Method>(_ method: M) async throws -> M.Reply {
        let connection = try await connect()
        try await connection.start(method)
        guard let (reply, _) = try await connection.nextReply(to: M.self) else { throw CancellationError() }
        return reply
    }

    /// Makes a call and collects its replies, any number.
    func call<M: Method>(streaming method: M) async throws -> [M.Reply] {
        let connection = try await connect()
        try await connection.start(method, more: true)
        var replies: [M.Reply] = []
        while let (reply, continues) = try await connection.nextReply(to: M.self) {
            replies.append(reply)
            if !continues { return replies }
        }
        throw CancellationError()
    }

    private nonisolated(nonsending) func connect() async throws -> TaskConnection {
        guard let connection = try await TaskConnection.toDaemon(at: path) else { throw CancellationError() }
        return connection
    }
}
