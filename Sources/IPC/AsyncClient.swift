/// The countdowns of a daemon, for programs that do not block: calls to await, and events as an asynchronous sequence.
///
/// Each call and each watch is a connection of its own, so that none waits for another. A task that is cancelled closes
/// its connection at once; a call then throws `CancellationError`, and whether the daemon has done what was asked is not
/// known. All else that a call throws is a ``ClientError``.
public struct AsyncClient: Sendable {
    /// The path of the daemon's socket.
    public let path: String

    /// Those of the daemon that this user's clients speak to: at `$COUNTDOWND_SOCKET`, else in the runtime directory.
    ///
    /// - Throws: what is wrong with the variable's path or with the directory.
    public init() throws(AddressError) {
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

    private nonisolated(nonsending) func connect() async throws -> AsyncConnection {
        guard let connection = try await AsyncConnection.toDaemon(at: path) else { throw CancellationError() }
        return connection
    }
}

/// The calls that a program makes most; ``AsyncClient/call(_:)`` takes every other, with every parameter.
extension AsyncClient {
    /// Starts a countdown, of 60 s where no length is given; one that is running or paused under the key is attached to,
    /// and not changed, unless `ifRunning` says otherwise.
    @discardableResult
    public func start(
        _ key: String,
        for length: Duration? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil
    ) async throws -> Start.Reply {
        try await call(Start(key: key, durationUSec: length?.microseconds, ifRunning: ifRunning, label: label))
    }

    /// The countdown under a key; one that ended is told until it is trimmed.
    public func get(_ key: String) async throws -> Countdown {
        try await call(Get(key: key)).countdown
    }

    /// The countdowns that the call asks for; those that are running or paused where it asks for nothing.
    public func list(_ list: List = List()) async throws -> [Countdown] {
        try await call(streaming: list).flatMap(\.countdowns)
    }

    /// Ends a countdown before its deadline.
    @discardableResult
    public func cancel(_ key: String) async throws -> Countdown {
        try await call(Cancel(key: key)).countdown
    }

    /// Finishes a countdown now.
    @discardableResult
    public func finish(_ key: String) async throws -> Countdown {
        try await call(Finish(key: key)).countdown
    }

    /// Freezes the remaining time.
    @discardableResult
    public func pause(_ key: String) async throws -> Countdown {
        try await call(Pause(key: key)).countdown
    }

    /// Runs a paused countdown again, towards now plus what remained.
    @discardableResult
    public func resume(_ key: String) async throws -> Countdown {
        try await call(Resume(key: key)).countdown
    }

    /// Adds time, or takes it where it is below zero; where nothing would remain the countdown finishes now.
    @discardableResult
    public func adjust(_ key: String, by length: Duration) async throws -> Countdown {
        try await call(Adjust(key: key, byUSec: length.microseconds)).countdown
    }

    /// Waits until the countdown under a key has ended; not at all where it has, and is still known.
    @discardableResult
    public func wait(for key: String) async throws -> Countdown {
        try await call(Wait(key: key)).countdown
    }
}

extension Duration {
    /// Whole microseconds, rounded up; the nearest number where there are too many.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let rest = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(rest)
        guard overflow || overflowOfSum else { return sum }
        return seconds < 0 ? .min : .max
    }
}
