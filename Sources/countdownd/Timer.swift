import CLinux
import CountdownCore
import Dispatch
import Glibc

/// The daemon's one timer, against the wall clock.
///
/// While the loop sleeps, a dispatch source waits for the instant. If the instant is near, the loop waits for it itself, because
/// a firing of the source passes through three threads.
struct Timer: ~Copyable {
    /// In the year 2112. From 2^62 ns after 1970 on, libdispatch takes an instant for an instant of another clock.
    private static let latest = WallInstant(microseconds: 1 << 52)
    /// Until an instant that is no farther away, the loop waits without the source. A wait of the loop stands still in a suspend,
    /// so after one a countdown may end later by this duration.
    private static let near = Duration.milliseconds(20)
    /// A firing of the source takes some 60 to 150 µs, so the source is set earlier by this duration, and the loop waits for the
    /// rest.
    private static let slack = Duration(microseconds: 150)
    /// The kernel takes some 30 µs to wake the loop, so the loop wakes up earlier by this duration, and reads the clock until the
    /// instant.
    private static let spin = Duration(microseconds: 40)
    /// After a longer wait a processor takes some 100 µs more to wake up, so the loop first waits until `slack` before the instant.
    private static let longWait = Duration(microseconds: 2_000)

    private let source: any DispatchSourceTimer
    private var armed: WallInstant?
    /// Whether the source is set for the instant.
    private var isScheduled = false

    /// A timer that does not fire before `start`.
    init(queue: DispatchQueue) { source = DispatchSource.makeTimerSource(queue: queue) }

    /// From now on, calls back on the queue when the instant for which the timer was armed last is near.
    func start(_ fire: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: fire)
        source.schedule(wallDeadline: Self.deadline(Self.latest))
        source.activate()
    }

    /// How long the loop may sleep; nil if the source will wake it, or the timer is not armed.
    func timeLeft(at now: WallInstant) -> Duration? {
        guard let left = armed.map({ $0 - now }), left <= Self.near else { return nil }
        return max(left - (left > Self.longWait ? Self.slack : Self.spin), .zero)
    }

    /// Whether the instant comes so soon that the loop reads the clock until then.
    func isImminent(at now: WallInstant) -> Bool {
        guard let left = armed.map({ $0 - now }) else { return false }
        return left > .zero && left <= Self.spin
    }

    /// Whether it fires before an instant plus a duration.
    func fires(within duration: Duration, of instant: WallInstant) -> Bool {
        armed.map { $0 - instant < duration } ?? false
    }

    /// Arms the timer for an instant, which may have passed.
    ///
    /// If it is armed for an earlier instant, it stays so: to set the source wakes a thread of libdispatch, and an instant that
    /// moves with every call, such as the end of a call's patience, would cost that each time. It is armed anew once the
    /// instant has passed.
    ///
    /// - Parameters:
    ///   - instant: the instant; nil if nothing will be due.
    ///   - now: the instant of this turn.
    mutating func arm(at instant: WallInstant?, now: WallInstant) {
        if let passed = armed, passed <= now { armed = nil }
        if let instant, armed.map({ instant < $0 }) ?? true { (armed, isScheduled) = (instant, false) }
        guard let armed, !isScheduled, armed - now > Self.near else { return }
        source.schedule(wallDeadline: Self.deadline(armed - Self.slack), leeway: .nanoseconds(0))
        isScheduled = true
    }

    private static func deadline(_ instant: WallInstant) -> DispatchWallTime {
        // libdispatch takes 0 for the present of another clock, and would never fire.
        let microseconds = min(max(1, instant.microseconds), latest.microseconds)
        // Both CLinux and Glibc define `timespec`; the compiler takes it from the module that it reads first.
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return DispatchWallTime(timespec: timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1_000))
    }
}
