import CountdownCore

/// The clock of a fleet's engine, by which all deadlines in the fleet are kept.
///
/// It never goes back by less than `smallestStep`: it stands still until the engine's time has come that far.
struct EngineClock {
    /// If the engine's clock has moved by this duration since it was set last, it was set again.
    static let smallestStep = Duration.milliseconds(100)

    /// The engine's time less the boot clock; nil if it was never reached, so that the system clock has to do.
    private(set) var offset: Duration?
    /// The offset since the clock was set last.
    private var settled: Duration?
    /// By how much the clock was set since the last reading.
    private var step: Duration?
    private var latest = WallInstant(microseconds: 0)

    /// Continues with an offset that an earlier daemon held in this boot.
    mutating func hold(_ offset: Duration) { (self.offset, settled) = (offset, offset) }

    /// Follows a new offset.
    ///
    /// - Parameters:
    ///   - new: the engine's time less the boot clock.
    ///   - systemOffset: the system clock less the boot clock, by which the time was measured until the engine was reached.
    mutating func follow(_ new: Duration, systemOffset: Duration) {
        let change = new - (settled ?? systemOffset)
        offset = new
        guard change.microseconds.magnitude >= Self.smallestStep.microseconds.magnitude else {
            settled = settled ?? systemOffset
            return
        }
        (settled, step) = (new, change)
        latest = WallInstant(microseconds: 0)
    }

    /// The instant at a reading of the boot clock, and by how much the clock was set since the last one; nil if the engine was
    /// never reached.
    mutating func now(at boot: BootInstant) -> (now: Now, step: Duration?)? {
        guard let offset else { return nil }
        latest = max(latest, Now(boot: boot, offset: offset).wall)
        defer { step = nil }
        return (Now(boot: boot, offset: latest - WallInstant(microseconds: boot.microseconds)), step)
    }
}
