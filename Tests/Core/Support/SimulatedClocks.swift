import CountdownCore

/// Both clocks of a machine: a test lets them run, sleep and be set.
struct SimulatedClocks {
    private(set) var boot = BootInstant(microseconds: 1_000_000_000)
    /// 2025-10-09T08:53:20Z, at the boot clock's 1,000 s.
    private(set) var offset = Duration.seconds(1_759_998_800)

    var now: Now { Now(boot: boot, offset: offset) }

    /// Time passes, awake or in suspend: both clocks go on.
    mutating func pass(_ span: Duration) {
        boot = boot + span
    }

    /// Sets the system clock.
    mutating func setWall(by span: Duration) {
        offset = offset + span
    }

    /// A reading of the clocks that takes as long as `width`, the system clock being read so long after its beginning.
    mutating func read(width: Duration = .zero, wallAfter: Duration = .zero) -> ClockOffset.Reading {
        let reading = ClockOffset.Reading(
            before: boot,
            wall: Now(boot: boot + wallAfter, offset: offset).wall,
            after: boot + width
        )
        pass(width)
        return reading
    }
}

extension Duration {
    static func microseconds(_ microseconds: Int64) -> Duration {
        Duration(microseconds: microseconds)
    }

    static func minutes(_ minutes: Int64) -> Duration { .seconds(60 * minutes) }
    static func hours(_ hours: Int64) -> Duration { .seconds(3_600 * hours) }
    static func days(_ days: Int64) -> Duration { .seconds(86_400 * days) }
    /// Julian years, as `Limits` counts them.
    static func years(_ years: Int64) -> Duration { .seconds(31_557_600 * years) }

    static prefix func - (span: Duration) -> Duration { .zero - span }
}
