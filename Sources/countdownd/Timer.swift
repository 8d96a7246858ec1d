import CountdownCore

/// The daemon's one timer, against the wall clock.
///
/// While the loop sleeps, an alarm waits for the instant. If the instant is near, the loop waits for it itself, because an alarm
/// passes through three threads.
struct Timer: ~Copyable {
    private let margins: TimerMargins
    private let setAlarm: (WallInstant) -> Void
    private var armed: WallInstant?
    /// Whether the alarm is set for the instant.
    private var isScheduled = false

    /// A timer that calls back, on some thread, when the instant for which it was armed last is near.
    init(_ time: TimeSource, _ fire: @escaping @Sendable () -> Void) {
        margins = time.margins
        setAlarm = time.makeAlarm(fire)
    }

    /// How long the loop may sleep; nil if the alarm will wake it, or the timer is not armed.
    func timeLeft(at now: WallInstant) -> Duration? {
        guard let left = armed.map({ $0 - now }), left <= margins.near else { return nil }
        return max(left - (left > margins.longWait ? margins.slack : margins.spin), .zero)
    }

    /// Whether the instant comes so soon that the loop reads the clock until then.
    func isImminent(at now: WallInstant) -> Bool {
        guard let left = armed.map({ $0 - now }) else { return false }
        return left > .zero && left <= margins.spin
    }

    /// Whether it fires before an instant plus a duration.
    func fires(within duration: Duration, of instant: WallInstant) -> Bool {
        armed.map { $0 - instant < duration } ?? false
    }

    /// Arms the timer for an instant, which may have passed.
    ///
    /// If it is armed for an earlier instant, it stays so: to set the alarm wakes a thread of libdispatch, and an instant that
    /// moves with every call, such as the end of a call's patience, would cost that each time. It is armed anew once the
    /// instant has passed.
    ///
    /// - Parameters:
    ///   - instant: the instant; nil if nothing will be due.
    ///   - now: the instant of this turn.
    mutating func arm(at instant: WallInstant?, now: WallInstant) {
        if let passed = armed, passed <= now { armed = nil }
        if let instant, armed.map({ instant < $0 }) ?? true { (armed, isScheduled) = (instant, false) }
        guard let armed, !isScheduled, armed - now > margins.near else { return }
        setAlarm(armed - margins.slack)
        isScheduled = true
    }
}
