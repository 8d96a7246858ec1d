import CLinux
import CountdownCore
import Glibc
import System

/// The only place where the daemon reads a clock.
struct Clocks {
    private let read: @Sendable () -> ClockOffset.Reading
    private var offset: ClockOffset

    /// - Parameter read: reads the system clock between two readings of the boot clock.
    init(reading read: @escaping @Sendable () -> ClockOffset.Reading = Clocks.read) {
        self.read = read
        offset = ClockOffset(read())
    }

    /// Takes over the offset that an earlier daemon held in this boot, so that the deadlines it reported stay the same.
    mutating func hold(_ offset: Duration) {
        self.offset = ClockOffset(held: offset)
    }

    /// Reads both clocks.
    ///
    /// - Returns: the instant, and by how much the system clock was set since the last reading; nil if it was not set.
    mutating func now() -> (now: Now, step: Duration?) {
        offset.take(read())
    }

    /// The system clock.
    static func systemClock() -> WallInstant {
        WallInstant(microseconds: WallClock.now)
    }

    /// The system clock between two readings of the boot clock.
    ///
    /// If the process was interrupted in between, it reads again, because an uncertainty above the offset's tolerance
    /// could be mistaken for a clock step.
    static func read() -> ClockOffset.Reading {
        var best = readOnce()
        for _ in 0..<4 where best.width > ClockOffset.tolerance {
            let next = readOnce()
            if next.width < best.width { best = next }
        }
        return best
    }

    private static func readOnce() -> ClockOffset.Reading {
        let before = BootClock.now
        let wall = systemClock()
        let after = BootClock.now
        return ClockOffset.Reading(
            before: BootInstant(microseconds: before),
            wall: wall,
            after: BootInstant(microseconds: after)
        )
    }
}

/// Becomes readable when somebody sets the system clock.
///
/// It becomes readable after a resume from suspend, too; only the clocks can tell whether the system clock was set.
/// libdispatch does not watch for that, so without this monitor a timer would be wrong until the next wake-up.
struct ClockChangeMonitor: ~Copyable {
    private let timer: Descriptor

    var descriptor: Int32 { timer.number }

    init() throws(SystemFailure) {
        timer = try Descriptor(owning: linux_clock_watch_create(), of: "timerfd_create")
        arm()
    }

    /// Resets the monitor. Call it before the clocks are read, so that a later change is reported again.
    func arm() {
        var expirations: UInt64 = 0
        _ = unsafe read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        _ = linux_clock_watch_arm(timer.number)
    }
}
