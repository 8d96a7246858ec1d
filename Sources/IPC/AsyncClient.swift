import System
public import Varlink

/// A client of the daemon for programs that do not block: calls to await, and events as an asynchronous sequence.
///
/// Every call and every watch has a connection of its own, so that none waits for another. If a task is cancelled its
/// connection is closed at once. The call then throws ``ClientError/cancelled``, and the daemon may or may not have executed it.
public struct AsyncClient: Sendable {
    /// The path of the daemon's socket.
    public let path: String

    /// A client of this user's daemon: at `$COUNTDOWND_SOCKET`, else in the runtime directory.
    ///
    /// - Throws: ``ClientError/address(_:)``.
    public init() throws(ClientError) {
        path = try ClientError.pathOfDaemon()
    }

    /// A client of the daemon with the socket at `path`.
    public init(at path: String) {
        self.path = path
    }

    /// Makes a call and waits for its one reply.
    package func call<M: Method>(_ method: M) async throws(ClientError) -> M.Reply {
        try await replies(to: method, more: false)[0]
    }

    /// Makes a call and collects all its replies, which is at least one.
    private func replies<M: Method>(to method: M, more: Bool) async throws(ClientError) -> [M.Reply] {
        guard var connection = try await ClientConnection.toDaemon(at: path) else { throw .cancelled }
        connection.call(method, more: more)
        try await connection.sendAll()
        var replies: [M.Reply] = []
        while let (reply, continues) = try await connection.nextReply(to: M.self) {
            replies.append(reply)
            if !continues { return replies }
        }
        throw .cancelled
    }
}

/// The calls. ``Client`` has the same.
extension AsyncClient {
    /// Starts a countdown. If one is running or paused under the key it is attached to and stays unchanged, unless
    /// `ifRunning` says otherwise.
    ///
    /// - Parameters:
    ///   - key: 1 to 255 bytes without control characters.
    ///   - duration: how long the countdown runs; 60 s if it has neither a duration nor a deadline.
    ///   - deadline: when the countdown ends, instead of a duration. It then follows the system clock.
    ///   - ifRunning: the action if the key is running or paused; nil for ``IfRunning/attach``.
    ///   - label: a text for people.
    ///   - metadata: values that the daemon only stores.
    ///   - forget: whether the daemon forgets the countdown at its end, after it has reported the end.
    ///   - upTo: the most that may remain after ``IfRunning/extend`` or ``IfRunning/wait``, at least the duration.
    ///   - maxDuration: how long ``IfRunning/later`` lets the countdown run in all, at least the duration.
    ///   - queueUpTo: how many calls with ``IfRunning/wait`` may queue for the key, this one included.
    /// - Returns: the outcome and the countdown.
    /// - Throws: ``CountdownError/alreadyRunning(_:retryAfter:)`` if `ifRunning` refuses, or another error of the call.
    @discardableResult
    public func start(
        _ key: String,
        for duration: Duration? = nil,
        until deadline: Countdown.Instant? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upTo: Duration? = nil,
        maxDuration: Duration? = nil,
        queueUpTo: Int64? = nil
    ) async throws(ClientError) -> (outcome: Countdown.Outcome, countdown: Countdown) {
        let reply = try await call(
            Start(key, duration, deadline, ifRunning, label, metadata, forget, upTo, maxDuration, queueUpTo)
        )
        return (reply.outcome, reply.countdown)
    }

    /// Starts or extends the countdowns of all cooldowns, or of none: several limits of one call, such as 3 a minute and 30 a
    /// day.
    ///
    /// - Parameters:
    ///   - cooldowns: at most 16, each key once.
    ///   - dryRun: whether nothing is changed: the answer is the one that the same call would get now.
    /// - Returns: whether the cooldowns were accepted; what each has room for; and if they were not accepted, when the same call
    ///   is, unless that cannot be known.
    /// - Throws: the error of the call; a refusal is none.
    public func startAll(
        _ cooldowns: [Cooldown],
        dryRun: Bool? = nil
    ) async throws(ClientError) -> (accepted: Bool, rooms: [Cooldown.Room], retryAfter: Duration?) {
        let reply = try await call(StartAll(cooldowns: cooldowns, dryRun: dryRun))
        return (reply.accepted, reply.rooms, reply.retryAfterUSec.map(Duration.microseconds))
    }

    /// Returns the countdown under a key, also after its end as long as the daemon keeps it.
    public func get(_ key: String) async throws(ClientError) -> Countdown {
        try await call(Get(key: key)).countdown
    }

    /// Returns countdowns, in the order of their last change.
    ///
    /// - Parameters:
    ///   - match: glob patterns. If there are neither patterns nor keys, every countdown matches.
    ///   - states: running and paused if it is nil.
    ///   - keys: keys without wildcards.
    ///   - soonest: return only this many countdowns, those that end first, in that order.
    /// - Returns: the countdowns.
    /// - Throws: the error of the call.
    public func list(
        match: [String]? = nil,
        states: [Countdown.State]? = nil,
        keys: [String]? = nil,
        soonest: Int64? = nil
    ) async throws(ClientError) -> [Countdown] {
        let list = List(match: match, states: states, keys: keys, soonest: soonest)
        return try await replies(to: list, more: true).flatMap(\.countdowns)
    }

    /// Ends a countdown before its deadline, if it has the revision; nil for any.
    @discardableResult
    public func cancel(_ key: String, ifRevision: Int64? = nil) async throws(ClientError) -> Countdown {
        try await call(Cancel(key: key, ifRevision: ifRevision)).countdown
    }

    /// Finishes a countdown now, if it has the revision; nil for any.
    @discardableResult
    public func finish(_ key: String, ifRevision: Int64? = nil) async throws(ClientError) -> Countdown {
        try await call(Finish(key: key, ifRevision: ifRevision)).countdown
    }

    /// Freezes the remaining time, if the countdown has the revision; nil for any.
    @discardableResult
    public func pause(_ key: String, ifRevision: Int64? = nil) async throws(ClientError) -> Countdown {
        try await call(Pause(key: key, ifRevision: ifRevision)).countdown
    }

    /// Lets a paused countdown run again for its remaining time, if it has the revision; nil for any.
    @discardableResult
    public func resume(_ key: String, ifRevision: Int64? = nil) async throws(ClientError) -> Countdown {
        try await call(Resume(key: key, ifRevision: ifRevision)).countdown
    }

    /// Adds to the remaining time, or takes from it if the duration is negative. If nothing would remain, the countdown
    /// finishes now.
    @discardableResult
    public func adjust(
        _ key: String,
        by duration: Duration,
        ifRevision: Int64? = nil
    ) async throws(ClientError) -> Countdown {
        try await call(Adjust(key: key, byUSec: duration.microseconds, ifRevision: ifRevision)).countdown
    }

    /// Gives a running countdown another deadline. It then follows the system clock.
    @discardableResult
    public func adjust(
        _ key: String,
        until deadline: Countdown.Instant,
        ifRevision: Int64? = nil
    ) async throws(ClientError) -> Countdown {
        try await call(Adjust(key: key, deadlineUSec: deadline.microseconds, ifRevision: ifRevision)).countdown
    }

    /// Returns counters and limits of the daemon.
    public func status() async throws(ClientError) -> GetStatus.Reply {
        try await call(GetStatus())
    }

    /// Waits until the countdown under a key has ended. If it has ended already and the daemon still keeps it, this
    /// returns at once. If the daemon goes away meanwhile, this waits until it is back.
    @discardableResult
    public func wait(for key: String) async throws(ClientError) -> Countdown {
        var attempt = 0
        while true {
            do {
                return try await call(Wait(key: key)).countdown
            } catch .unreachable where attempt > 0 {
            } catch .countdown(.storageFailed) where attempt > 0 {
            } catch .disconnected {
            } catch .failed {}
            await Backoff.sleep(microseconds: Backoff.delay(before: attempt))
            attempt += 1
        }
    }

    /// As ``wait(for:)``; nil if the countdown was never started, or if the daemon no longer keeps its end.
    @discardableResult
    public func waitIfPresent(for key: String) async throws(ClientError) -> Countdown? {
        do { return try await wait(for: key) } catch .countdown(.noSuchCountdown) { return nil }
    }
}
