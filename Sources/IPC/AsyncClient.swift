import System

/// A client of the daemon for programs that do not block: calls to await, and events as an asynchronous sequence.
///
/// Every call and every watch has a connection of its own, so that none waits for another. If a task is cancelled its
/// connection is closed at once. The call then throws `CancellationError`, and the daemon may or may not have executed it.
/// All other errors are ``ClientError``.
public struct AsyncClient: Sendable {
    /// The path of the daemon's socket.
    public let path: String

    /// A client of this user's daemon: at `$COUNTDOWND_SOCKET`, else in the runtime directory.
    ///
    /// - Throws: why there is no place for the daemon's socket.
    public init() throws(AddressError) {
        path = try Address.forClient().path
    }

    /// A client of the daemon with the socket at `path`.
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

    /// Makes a call and collects all its replies.
    private func call<M: Method>(streaming method: M) async throws -> [M.Reply] {
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

/// The most frequent calls. ``AsyncClient/call(_:)`` makes every other call, with every parameter.
extension AsyncClient {
    /// Starts a countdown. If one is running or paused under the key it is attached to and stays unchanged, unless
    /// `ifRunning` says otherwise.
    ///
    /// - Parameters:
    ///   - key: 1 to 255 bytes without control characters.
    ///   - duration: how long the countdown runs; nil for 60 s.
    ///   - ifRunning: the action if the key is running or paused; nil for ``IfRunning/attach``.
    ///   - label: a text for people.
    ///   - upTo: the most that may remain after ``IfRunning/extend`` or ``IfRunning/wait``.
    ///   - maxDuration: how long ``IfRunning/later`` lets the countdown run in all.
    /// - Returns: the outcome and the countdown.
    /// - Throws: a ``ClientError``, or `CancellationError`.
    @discardableResult
    public func start(
        _ key: String,
        for duration: Duration? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        upTo: Duration? = nil,
        maxDuration: Duration? = nil
    ) async throws -> Start.Reply {
        try await call(
            Start(
                key: key,
                durationUSec: duration?.microseconds,
                ifRunning: ifRunning,
                label: label,
                upToUSec: upTo?.microseconds,
                maxDurationUSec: maxDuration?.microseconds
            )
        )
    }

    /// Returns the countdown under a key, also after its end as long as the daemon keeps it.
    public func get(_ key: String) async throws -> Countdown {
        try await call(Get(key: key)).countdown
    }

    /// Returns the countdowns that the call asks for; without an argument all that are running or paused.
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

    /// Lets a paused countdown run again for its remaining time.
    @discardableResult
    public func resume(_ key: String) async throws -> Countdown {
        try await call(Resume(key: key)).countdown
    }

    /// Adds to the remaining time, or takes from it if the duration is negative. If nothing would remain, the countdown
    /// finishes now.
    @discardableResult
    public func adjust(_ key: String, by duration: Duration) async throws -> Countdown {
        try await call(Adjust(key: key, byUSec: duration.microseconds)).countdown
    }

    /// Waits until the countdown under a key has ended. If it has ended already and the daemon still keeps it, this
    /// returns at once. If the daemon goes away meanwhile, this waits until it is back.
    @discardableResult
    public func wait(for key: String) async throws -> Countdown {
        var attempt = 0
        while true {
            do {
                return try await call(Wait(key: key)).countdown
            } catch ClientError.unreachable where attempt > 0 {
            } catch ClientError.countdown(.storageFailed) where attempt > 0 {
            } catch ClientError.disconnected, ClientError.failed {}
            await Backoff.sleep(microseconds: Backoff.delay(before: attempt))
            attempt += 1
        }
    }
}

extension Duration {
    /// Whole microseconds, rounded up; the nearest number if the duration is too long for one.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let fraction = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(fraction)
        guard overflow || overflowOfSum else { return sum }
        return seconds < 0 ? .min : .max
    }
}
