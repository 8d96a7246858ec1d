import CountdownCore
import Fleet

/// Whether a member of a fleet has its engine, and since when: for `GetStatus`, the status line, and the log.
struct EngineWatch {
    /// How the fleet's countdowns are followed.
    enum State {
        /// The daemon has just started.
        case connecting
        case snapshot
        case live
        case lost
    }

    /// The engine cannot be reached.
    struct Loss: Equatable {
        let since: WallInstant
        let reason: String
    }

    /// The lines of the log about a loss.
    enum Line: Equatable {
        case lost(String)
        /// It goes on, for another reason.
        case stillLost(String)
    }

    /// A reason is logged if it is still true after this time. Only the loss of an engine that was followed is logged at once.
    static let patience = Duration.seconds(1)

    private(set) var state = State.connecting
    /// Since when it is in its state, by the clock at that time.
    private(set) var since: WallInstant
    /// Why it is connecting or lost.
    private(set) var reason: String? = "the bridge does not answer"
    /// When the reason is to be logged; nil without a reason, or after it was logged.
    private(set) var next: BootInstant?
    private var loggedReason: String?
    /// Since when changes may be missing; nil if none are.
    private var lagsSince: BootInstant?

    /// A daemon that starts now.
    init(at now: Now) {
        since = now.wall
        next = now.boot + Self.patience
        lagsSince = now.boot
    }

    /// For how long changes may have been missing.
    func lag(at now: Now) -> Duration { lagsSince.map { now.boot - $0 } ?? .zero }

    /// The loss, once it is one.
    var loss: Loss? { state == .lost ? Loss(since: since, reason: reason ?? "") : nil }

    /// Notes that the engine cannot be reached.
    ///
    /// - Returns: the line to log now.
    mutating func lose(_ reason: String, at now: Now) -> Line? {
        if state == .live || state == .snapshot {
            enter(.lost, at: now)
            (self.reason, loggedReason) = (reason, reason)
            return .lost(reason)
        }
        self.reason = reason
        next = reason == loggedReason ? nil : next ?? now.boot + Self.patience
        return nil
    }

    /// Notes how far the log is known at the end of a turn.
    ///
    /// - Returns: the line to log now.
    mutating func update(_ member: Member, at now: Now) -> Line? {
        let wasFollowed = state == .live || state == .snapshot
        var line: Line?
        switch member.cursor.state {
        case .live: enter(.live, at: now)
        case .snapshot where member.cursor.hasStream:
            // A stream that was asked for may never begin.
            if wasFollowed || member.cursor.position != nil { enter(.snapshot, at: now) }
        default: if wasFollowed, !member.cursor.hasStream { line = lose(member.lostReason, at: now) }
        }
        let lags = state != .live || member.lacksChanges
        if !lags { lagsSince = nil } else if lagsSince == nil { lagsSince = now.boot }
        return line ?? reasonThatLasts(at: now)
    }

    private mutating func enter(_ newState: State, at now: Now) {
        guard state != newState else { return }
        state = newState
        (since, reason, loggedReason, next) = (now.wall, nil, nil, nil)
    }

    private mutating func reasonThatLasts(at now: Now) -> Line? {
        guard let next, next <= now.boot, let reason else { return nil }
        self.next = nil
        let isFirst = loggedReason == nil
        loggedReason = reason
        if state == .connecting { state = .lost }
        return isFirst ? .lost(reason) : .stillLost(reason)
    }
}
