import CLinux
import CountdownCore
import Dispatch
import Glibc
import System

/// The source of a daemon's time: its clocks, and how its loop waits for an instant. Only a source reads a clock.
///
/// The source of a test stands still until the test moves it. The clocks are functions, because an existential costs more.
struct TimeSource: Sendable {
    /// The boot clock.
    let boot: @Sendable () -> BootInstant
    /// The system clock between two readings of the boot clock.
    let read: @Sendable () -> ClockOffset.Reading
    /// How the loop waits for an instant.
    var margins = TimerMargins()
    /// Makes an alarm, which calls back when the system clock comes to the instant that was set last. Returns what sets the instant.
    let makeAlarm: @Sendable (_ fire: @escaping @Sendable () -> Void) -> (WallInstant) -> Void
}

/// The durations before an instant in which the loop waits for it without an alarm.
struct TimerMargins {
    /// If an instant is at most this duration ahead, the loop waits for it without the alarm. A wait of the loop stands still in a
    /// suspend, so after one a countdown may end later by this duration.
    var near = Duration.milliseconds(20)
    /// An alarm takes some 60 to 150 µs, so it is set earlier by this duration, and the loop waits for the rest.
    var slack = Duration(microseconds: 150)
    /// The kernel takes some 30 µs to wake the loop, so the loop wakes up earlier by this duration, and reads the clock until
    /// the instant.
    var spin = Duration(microseconds: 40)
    /// After a longer wait a processor takes some 100 µs more to wake up, so the loop first waits until `slack` before the
    /// instant.
    var longWait = Duration(microseconds: 2_000)
}

/// The time of this machine.
extension TimeSource {
    static let system = TimeSource(boot: { bootClock }, read: readSystem, makeAlarm: makeSystemAlarm)

    /// In the year 2112. From 2^62 ns after 1970 on, libdispatch takes an instant for an instant of another clock.
    private static let latest = WallInstant(microseconds: 1 << 52)

    private static var bootClock: BootInstant { BootInstant(microseconds: BootClock.now) }
    /// The system clock.
    static var systemClock: WallInstant { WallInstant(microseconds: WallClock.now) }

    /// Reads the clocks. If the process was interrupted in between, it reads again, because an uncertainty above the offset's
    /// tolerance could be mistaken for a clock step.
    @Sendable private static func readSystem() -> ClockOffset.Reading {
        var best = readOnce()
        for _ in 0..<4 where best.width > ClockOffset.tolerance {
            let next = readOnce()
            if next.width < best.width { best = next }
        }
        return best
    }

    private static func readOnce() -> ClockOffset.Reading {
        ClockOffset.Reading(before: bootClock, wall: systemClock, after: bootClock)
    }

    @Sendable private static func makeSystemAlarm(_ fire: @escaping @Sendable () -> Void) -> (WallInstant) -> Void {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "countdownd.timer"))
        source.setEventHandler(handler: fire)
        source.schedule(wallDeadline: deadline(latest))
        source.activate()
        return { source.schedule(wallDeadline: deadline($0), leeway: .nanoseconds(0)) }
    }

    private static func deadline(_ instant: WallInstant) -> DispatchWallTime {
        // libdispatch takes 0 for the present of another clock, and would never fire.
        let microseconds = min(max(1, instant.microseconds), latest.microseconds)
        // Both CLinux and Glibc define `timespec`; the compiler takes it from the module that it reads first.
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return DispatchWallTime(timespec: timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1_000))
    }
}
