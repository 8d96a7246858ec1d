import CountdownCore
import Dispatch
import Glibc

/// The one timer of the daemon, against the wall clock.
struct Alarm: ~Copyable {
    /// In the year 2112. From 2^62 ns after 1970 on, libdispatch takes an instant for one of another clock.
    private static let latest = WallInstant(microseconds: 1 << 52)

    private let timer: any DispatchSourceTimer
    private var armed: WallInstant?

    /// An alarm that does not ring before `start`.
    init(queue: DispatchQueue) {
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    /// Calls back on the queue once the instant has come for which the alarm was armed last, from now on.
    func start(_ ring: @escaping @Sendable () -> Void) {
        timer.setEventHandler(handler: ring)
        timer.schedule(wallDeadline: Self.deadline(Self.latest))
        timer.activate()
    }

    /// Takes note that the alarm has rung: it is not armed any more.
    mutating func hasRung() {
        armed = nil
    }

    /// Arms the alarm for an instant, which may have passed, or for none; skipped where it is armed for that already.
    mutating func arm(at instant: WallInstant?) {
        guard instant != armed else { return }
        armed = instant
        timer.schedule(wallDeadline: Self.deadline(instant ?? Self.latest), leeway: .nanoseconds(0))
    }

    private static func deadline(_ instant: WallInstant) -> DispatchWallTime {
        let microseconds = min(max(0, instant.microseconds), latest.microseconds)
        return DispatchWallTime(
            timespec: timespec(
                tv_sec: Int(microseconds / 1_000_000),
                tv_nsec: Int(microseconds % 1_000_000 * 1_000)
            )
        )
    }
}
