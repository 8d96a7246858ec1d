/// A watch that goes on from one daemon to the next, without its connections: what to ask for, how far it has been told,
/// and what the loss of a connection means. Whoever makes the connections says what came of them.
public struct ResumableWatch: Sendable {
    /// So that the revision of who follows a quiet key stays within what the daemon keeps; it costs a wake-up an hour.
    public static let heartbeat: Int64 = 3_600_000_000

    /// What became of a watch whose connection is of no more use. It may be asked for again.
    public enum Loss: Sendable, Hashable {
        /// The daemon is gone, or has no room.
        case lost
        /// The daemon has not come back yet.
        case stillLost
        /// The daemon keeps no history from there on: endings may have been missed. The watch begins afresh.
        case historyTrimmed
    }

    /// The newest revision up to which all has been told; nil where the watch begins afresh.
    public private(set) var since: Int64?
    private let watch: Watch
    /// Whether the watch that goes on began afresh and has not told all there is yet.
    private var isOpening: Bool
    /// Whether anything has come at all: who has never been told anything has nothing to come back to.
    private var hasBegun = false
    /// The attempts to reach the daemon since it was lost; nil while it is there.
    private var attempts: Int?

    /// How often in a row the daemon has answered `HistoryTrimmed` without a `synced` in between.
    private var trims = 0

    /// Follows what the call asks for, from its `since` on where it has one; with a heartbeat where it has none.
    public init(_ watch: Watch) {
        self.watch = watch
        since = watch.since
        isOpening = watch.since == nil
    }

    /// The call that begins the watch, or takes it up again.
    public var request: Watch {
        var request = watch
        request.since = since
        request.heartbeatUSec = watch.heartbeatUSec ?? Self.heartbeat
        return request
    }

    /// Notes what has been told; whether the daemon, which was lost, is back with it.
    public mutating func take(_ events: [Event]) -> Bool {
        hasBegun = true
        for event in events { take(event) }
        if events.contains(where: { $0.type == .synced }) { trims = 0 }
        guard attempts != nil, events.contains(where: { $0.type == .synced }) else { return false }
        attempts = nil
        return true
    }

    private mutating func take(_ event: Event) {
        if event.type == .synced { isOpening = false }
        // A first walk tells changes before all that was there before them.
        guard !isOpening, let revision = event.revision else { return }
        since = max(since ?? revision, revision)
    }

    /// Notes that the daemon could not be reached again, or has ended the watch.
    public mutating func lose() -> Loss {
        guard attempts == nil else { return .stillLost }
        attempts = 0
        return .lost
    }

    /// Notes that the connection failed, or that the daemon refused the watch.
    ///
    /// - Throws: the error, where it would be no other at the next attempt.
    public mutating func recover(from error: ClientError) throws(ClientError) -> Loss {
        switch error {
        case .countdown(.historyTrimmed):
            resume(after: nil)
            trims += 1
            return .historyTrimmed
        case .disconnected, .failed:
            guard hasBegun else { throw error }
            return lose()
        // A daemon that has just come back may be crowded.
        case .countdown(.limitReached):
            guard attempts != nil else { throw error }
            return lose()
        default: throw error
        }
    }

    /// Asks for what happened after another revision from now on; nil for what is running or paused.
    public mutating func resume(after revision: Int64?) {
        since = revision
        isOpening = revision == nil
    }

    /// The microseconds to wait before the next attempt, which is counted. The pauses grow with the attempts to reach a
    /// daemon that is gone, and with the answers `HistoryTrimmed` in a row, of which the first costs no pause. `synced`
    /// ends both.
    public mutating func pauseBeforeAttempt() -> Int64 {
        let pause = Backoff.delay(before: max(attempts ?? 0, trims - 1))
        attempts = attempts.map { $0 + 1 }
        return pause
    }
}

/// How long to wait before the daemon is tried again.
public enum Backoff {
    /// The microseconds before an attempt, the first being 0: none before that, as a daemon that is started again has
    /// its socket kept by its service manager; then 100 ms, doubled each time up to half a minute.
    public static func delay(before attempt: Int) -> Int64 {
        guard attempt > 0 else { return 0 }
        return min(100_000 << Int64(min(attempt - 1, 20)), 30_000_000)
    }
}
