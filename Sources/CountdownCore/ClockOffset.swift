/// Detects steps of the system clock.
///
/// Both clocks are slewed alike and run on in suspend, so their difference changes only if the system clock is set. The
/// difference is held as long as it agrees with the readings.
public struct ClockOffset: Sendable {
    /// A reading of the system clock between two readings of the boot clock.
    public struct Reading: Sendable {
        let before: BootInstant
        let wall: WallInstant
        let after: BootInstant

        /// A reading; `before` and `after` are of the boot clock, in this order.
        public init(before: BootInstant, wall: WallInstant, after: BootInstant) {
            self.before = before
            self.wall = wall
            self.after = after
        }

        /// How long the reading took, which is the uncertainty of its offset.
        public var width: Duration { after - before }

        var leastOffset: Duration { offset(at: after) }
        var greatestOffset: Duration { offset(at: before) }
        var middleOffset: Duration { offset(at: before + Duration(microseconds: width.microseconds / 2)) }

        private func offset(at instant: BootInstant) -> Duration {
            Duration(microseconds: wall.microseconds.saturatingSubtracted(instant.microseconds))
        }
    }

    /// A smaller difference is noise of the reading: the offset stays, and with it a timer that is armed.
    public static let tolerance = Duration(microseconds: 50)

    /// A larger difference is reported as a step; a smaller one only corrects the offset.
    public static let smallestStep = Duration.milliseconds(1)

    /// The system clock less the boot clock.
    public private(set) var held: Duration

    /// Continues with an offset that was held before.
    public init(held: Duration) { self.held = held }

    /// Begins with the offset of a reading.
    public init(_ reading: Reading) { held = reading.middleOffset }

    /// The instant of a reading, and by how much the system clock was set since the reading before; nil if it was not.
    ///
    /// A slow reading leaves the offset uncertain. The value nearest to the held offset counts, so a delay in the middle of a
    /// reading is never mistaken for a step.
    public mutating func take(_ reading: Reading) -> (now: Now, step: Duration?) {
        let nearest = min(max(held, reading.leastOffset), reading.greatestOffset)
        let change = nearest - held
        if change.magnitude > Self.tolerance.magnitude { held = nearest }
        return (Now(boot: reading.before, offset: held), change.magnitude >= Self.smallestStep.magnitude ? change : nil)
    }
}

extension Duration {
    fileprivate var magnitude: UInt64 { microseconds.magnitude }
}
