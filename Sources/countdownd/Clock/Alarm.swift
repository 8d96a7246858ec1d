import CountdownCore
import Dispatch
import Glibc

/// The one timer of the daemon, against the wall clock.
struct Alarm: ~Copyable {
    /// In the year 2112. From 2^62 ns after 1970 on, libdispatch takes an instant for one of another clock.
    private static let latest = WallInstant(microseconds: 1 << 52)
    /// libdispatch and the loop's pipe pass a firing through three threads, which takes some 60 to 150 µs. The timer is set
    /// earlier by this duration, and the loop spins for the rest.
    private static let lead = Duration(microseconds: 150)

    private let timer: any DispatchSourceTimer
    private var armed: WallInstant?

    /// An alarm that does not ring before `start`.
    init(queue: DispatchQueue) {
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    /// From now on, calls back on the queue when the instant for which the alarm was armed last is near.
    func start(_ ring: @escaping @Sendable () -> Void) {
        timer.setEventHandler(handler: ring)
        timer.schedule(wallDeadline: Self.deadline(Self.latest))
        timer.activate()
    }

    /// Takes note that the alarm has rung: it is not armed any more.
    ///
    /// - Parameter clock: tells the system clock, and is asked until the instant has come.
    mutating func hasRung(by clock: () -> WallInstant) {
        while let armed, case let left = armed - clock(), left > .zero, left <= Self.lead {}
        armed = nil
    }

    /// Whether it is to ring within such a span of an instant, or before.
    func rings(within span: Duration, of instant: WallInstant) -> Bool {
        armed.map { $0 - instant < span } ?? false
    }

    /// Arms the alarm for an instant, which may have passed, or for none; skipped where it is armed for that already.
    mutating func arm(at instant: WallInstant?) {
        guard instant != armed else { return }
        armed = instant
        let ringing = instant.map { $0 - Self.lead } ?? Self.latest
        timer.schedule(wallDeadline: Self.deadline(ringing), leeway: .nanoseconds(0))
    }

    private static func deadline(_ instant: WallInstant) -> DispatchWallTime {
        // Of 0, libdispatch makes the present of another clock, and rings for it never.
        let microseconds = min(max(1, instant.microseconds), latest.microseconds)
        return DispatchWallTime(
            timespec: timespec(
                tv_sec: Int(microseconds / 1_000_000),
                tv_nsec: Int(microseconds % 1_000_000 * 1_000)
            )
        )
    }
}
