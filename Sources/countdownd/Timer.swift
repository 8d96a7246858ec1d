import CLinux
import CountdownCore
import Dispatch
import Glibc

/// The daemon's one timer, against the wall clock.
struct Timer: ~Copyable {
    /// In the year 2112. From 2^62 ns after 1970 on, libdispatch takes an instant for an instant of another clock.
    private static let latest = WallInstant(microseconds: 1 << 52)
    /// libdispatch and the loop's pipe pass a firing through three threads, which takes some 60 to 150 µs. The source is set
    /// earlier by this duration, and the loop spins for the rest.
    private static let slack = Duration(microseconds: 150)

    private let source: any DispatchSourceTimer
    private var armed: WallInstant?

    /// A timer that does not fire before `start`.
    init(queue: DispatchQueue) {
        source = DispatchSource.makeTimerSource(queue: queue)
    }

    /// From now on, calls back on the queue when the instant for which the timer was armed last is near.
    func start(_ fire: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: fire)
        source.schedule(wallDeadline: Self.deadline(Self.latest))
        source.activate()
    }

    /// Notes that the timer has fired, and spins until its instant. It is not armed any more.
    ///
    /// - Parameter clock: reads the system clock.
    mutating func hasFired(by clock: () -> WallInstant) {
        while let armed, case let left = armed - clock(), left > .zero, left <= Self.slack {}
        armed = nil
    }

    /// Whether it fires before an instant plus a duration.
    func fires(within duration: Duration, of instant: WallInstant) -> Bool {
        armed.map { $0 - instant < duration } ?? false
    }

    /// Arms the timer for an instant, which may have passed.
    ///
    /// If it is armed for an earlier instant, it stays so: to set it wakes a thread of libdispatch, and an instant that moves
    /// with every call, such as the end of a call's patience, would cost that each time. It is armed anew once it has fired.
    mutating func arm(at instant: WallInstant?) {
        guard let instant, armed.map({ instant < $0 }) ?? true else { return }
        armed = instant
        source.schedule(wallDeadline: Self.deadline(instant - Self.slack), leeway: .nanoseconds(0))
    }

    private static func deadline(_ instant: WallInstant) -> DispatchWallTime {
        // libdispatch takes 0 for the present of another clock, and would never fire.
        let microseconds = min(max(1, instant.microseconds), latest.microseconds)
        // Both CLinux and Glibc define `timespec`; the compiler takes it from the module that it reads first.
        return DispatchWallTime(
            timespec: timespec(
                tv_sec: Int(microseconds / 1_000_000),
                tv_nsec: Int(microseconds % 1_000_000 * 1_000)
            )
        )
    }
}
