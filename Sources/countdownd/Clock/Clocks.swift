import CountdownCore
import Glibc

/// The only place where the daemon reads a clock.
struct Clocks {
    private let read: @Sendable () -> ClockOffset.Reading
    private var offset: ClockOffset

    /// - Parameter read: reads the system clock between two readings of the boot clock.
    init(reading read: @escaping @Sendable () -> ClockOffset.Reading = Clocks.read) {
        self.read = read
        offset = ClockOffset(read())
    }

    /// Goes on with the offset that another daemon held in this boot, so that what it told stays the same.
    mutating func hold(_ offset: Duration) {
        self.offset = ClockOffset(held: offset)
    }

    /// Reads both clocks.
    ///
    /// - Returns: the instant, and by how much the system clock was set since the last reading, nil where it was not.
    mutating func now() -> (now: Now, step: Duration?) {
        offset.take(read())
    }

    /// The system clock as it is set now.
    static func systemClock() -> WallInstant {
        WallInstant(microseconds: microseconds(of: CLOCK_REALTIME))
    }

    /// The system clock between two readings of the boot clock.
    ///
    /// Where something came between, a narrower reading is tried for: what is uncertain by more than the offset's
    /// tolerance could pass for a step.
    static func read() -> ClockOffset.Reading {
        var best = readOnce()
        for _ in 0..<4 where best.width > ClockOffset.tolerance {
            let next = readOnce()
            if next.width < best.width { best = next }
        }
        return best
    }

    private static func readOnce() -> ClockOffset.Reading {
        let before = microseconds(of: CLOCK_BOOTTIME)
        let wall = systemClock()
        let after = microseconds(of: CLOCK_BOOTTIME)
        return ClockOffset.Reading(
            before: BootInstant(microseconds: before),
            wall: wall,
            after: BootInstant(microseconds: after)
        )
    }

    private static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
