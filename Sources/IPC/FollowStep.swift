/// A step of a countdown that is followed.
public struct FollowStep: Sendable, Equatable {
    /// The kind of the step.
    public enum Kind: String, Sendable, CaseIterable {
        /// The first step: the countdown was started here.
        case started
        /// The countdown was found running or paused: the first step, and the first one after ``away``.
        case attached
        /// A whole multiple of the time between ticks remains.
        case tick
        /// The remaining time was frozen.
        case paused
        /// It runs again for its remaining time.
        case resumed
        /// The remaining time was changed.
        case adjusted
        /// It was started again.
        case restarted
        /// The daemon is away, or does not know its countdowns yet. The program may count on by the deadline.
        case away
        /// The last step: nothing remains.
        case finished
        /// The last step: it was ended before its deadline.
        case cancelled
        /// The last step: it has ended, but the daemon does not know how. It forgot the countdown, or lost its history.
        case gone
    }

    /// The kind of the step.
    public var type: Kind
    /// The countdown as it is known now, with its deadline while it runs; nil before the first report of it.
    public var countdown: Countdown?
    /// For `finished`: how long after the deadline the daemon ended the countdown.
    public var late: Duration?
    /// For `away`: why.
    public var reason: ClientError?

    /// For the first step, if the start was answered: its outcome.
    package var outcome: Countdown.Outcome?

    /// What remains, or remained when it was cancelled; nil before the first report of the countdown.
    public var remaining: Duration? { countdown?.remaining }
    /// Whether no step follows.
    public var isLast: Bool { type == .finished || type == .cancelled || type == .gone }

    package init(_ type: Kind, _ countdown: Countdown? = nil, late: Duration? = nil, reason: ClientError? = nil) {
        self.type = type
        self.countdown = countdown
        self.late = late
        self.reason = reason
    }
}
