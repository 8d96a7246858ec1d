import Glibc
import System

/// A `Watch` that outlives its connections, as a state machine without I/O: which call to make next, how far the daemon
/// has reported, when to try again, and which errors are final.
///
/// The owner, which is a ``WatchConnection``, makes the connection and reports the results:
/// 1. After `delayBeforeAttempt()` microseconds it connects and makes the call `request`, then calls `start()`.
/// 2. It hands every reply to `receive(_:)`.
/// 3. If anything fails it calls `fail(_:)`, closes the connection and goes back to 1.
public struct ResumableWatch: Sendable {
    /// The heartbeat if the call asks for none: an hour. It keeps ``since`` within the daemon's history
    /// though the watched keys do not change.
    package static let heartbeat = Duration.seconds(3_600)

    /// The next request if the daemon no longer keeps the history after ``since``.
    public enum TrimmedHistory: Sendable {
        /// Ask for the current state.
        case beginAgain
        /// Ask for the history that the daemon still keeps.
        case resumeFromOldest
    }

    /// How a watch behaves if something fails.
    public struct FailureOptions: Sendable {
        /// Whether to wait for a daemon that is missing in the beginning. Otherwise the first attempt throws. A daemon that cannot open
        /// its store yet is always waited for.
        public var waitsForDaemon = false
        /// The next request if the daemon no longer keeps the history.
        public var trimmedHistory = TrimmedHistory.beginAgain
        /// Whether a ``WatchConnection`` that resumes reports every countdown before `synced`, as ``WatchEvent/current(_:)``.
        public var reportsAll = false

        /// The options of a program that a user has just started: if there is no daemon it fails at once.
        public init() {}
    }

    /// The newest revision up to which everything has been reported; nil before the first `synced`.
    public private(set) var since: Int64?
    private let watch: Watch
    let options: FailureOptions
    /// Whether this watch asked for the current state and `synced` has not arrived yet.
    private(set) var isOpening: Bool
    /// Whether a reply has ever arrived.
    private var hasBegun = false
    /// The attempts to reach the daemon since it was lost; nil while it is there.
    private var attempts: Int?
    /// The answers `HistoryTrimmed` since `synced` arrived last.
    private var trims = 0

    /// A watch that begins with the call `watch`, after its `since` if it has one.
    public init(_ watch: Watch, options: FailureOptions = FailureOptions()) {
        self.watch = watch
        self.options = options
        since = watch.since
        isOpening = watch.since == nil
    }

    /// The call that begins the watch or resumes it.
    package var request: Watch {
        var request = watch
        request.since = since
        request.heartbeatUSec = watch.heartbeatUSec ?? Self.heartbeat.microseconds
        return request
    }

    /// Notes that ``request`` was made on a new connection.
    package func start() -> WatchEvent { .started(isFresh: request.since == nil) }

    /// Takes the events of a reply.
    ///
    /// - Returns: the events, and before them that the daemon is back if `synced` has just arrived again.
    package mutating func receive(_ events: [Event]) -> [WatchEvent] {
        hasBegun = true
        for event in events {
            if event.type == .synced { isOpening = false }
            // Before `synced`, changes may arrive earlier than countdowns with lower revisions.
            guard !isOpening, let revision = event.revision else { continue }
            since = max(since ?? revision, revision)
        }
        guard events.contains(where: { $0.type == .synced }) else { return [.events(events)] }
        trims = 0
        guard attempts != nil else { return [.events(events)] }
        attempts = nil
        return [.recovered, .events(events)]
    }

    /// Notes that the daemon could not be reached, ended the watch or refused it.
    ///
    /// - Throws: the error, if another attempt would fail in the same way.
    package mutating func fail(_ error: ClientError) throws(ClientError) -> WatchEvent {
        if case .countdown(.historyTrimmed(let oldest)) = error {
            let isRefusedAgain = since == oldest
            since = options.trimmedHistory == .resumeFromOldest && !isRefusedAgain ? oldest : nil
            isOpening = since == nil
            trims += 1
            return .historyTrimmed(oldestRevision: oldest)
        }
        guard isTemporary(error) else { throw error }
        defer { attempts = attempts ?? 0 }
        return attempts == nil ? .lost(error) : .stillLost(error)
    }

    /// Whether the error may be gone at the next attempt.
    private func isTemporary(_ error: ClientError) -> Bool {
        switch error {
        // The daemon's queue of new connections is full.
        case .unreachable(_, EAGAIN): true
        case .unreachable(_, EACCES), .unreachable(_, EPERM): hasBegun
        case .disconnected, .failed, .unreachable: hasBegun || options.waitsForDaemon
        // The daemon is there, and will know the countdowns once it has opened its store or reached its fleet.
        case .countdown(.unreachable), .countdown(.storageFailed): true
        // A daemon that has just been restarted may have no room for all its clients at once.
        case .countdown(.limitReached(let limit, _)):
            (attempts != nil || options.waitsForDaemon) && !limit.hasPrefix("pattern")
        default: false
        }
    }

    /// The microseconds to wait before the next attempt, which is counted.
    ///
    /// The first attempt after a loss comes at once, because a service manager keeps the socket while the daemon restarts.
    /// The pauses then grow with each attempt that fails and with each answer `HistoryTrimmed`, until `synced` arrives.
    package mutating func delayBeforeAttempt() -> Int64 {
        let delay = Backoff.delay(before: max(attempts ?? 0, trims - 1))
        attempts = attempts.map { $0 + 1 }
        return delay
    }
}

/// A change of a watch that outlives its connections.
public enum WatchEvent: Sendable, Equatable {
    /// A connection was made. If `isFresh`, the current state comes next; otherwise the events after the last revision, and
    /// countdowns that have not changed are not reported again.
    case started(isFresh: Bool)
    /// The daemon reported this.
    case events([Event])
    /// The daemon is gone, has no room, or cannot open its store or reach its fleet. Another attempt follows by itself.
    case lost(ClientError)
    /// Another attempt failed.
    case stillLost(ClientError)
    /// The daemon is back: the events with `synced` follow.
    case recovered
    /// The daemon does not keep the history after the last revision, so that ends may have been missed. The watch begins
    /// again by itself.
    case historyTrimmed(oldestRevision: Int64)
    /// The countdowns that are running or paused, in the place of all that were known.
    case current([Countdown])
    /// These countdowns, which were reported as running or paused, ended while the watch was away, and the daemon does not report
    /// how, because it has forgotten them or trimmed its history. The events from `synced` on follow.
    case forgotten([String])
}
