/// Tells a step of the system clock from the mere passing of time.
///
/// Both clocks are slewed alike, and both run on in suspend, so their difference changes only where somebody sets the
/// system clock. The difference is held as long as it explains what the clocks say.
public struct ClockOffset: Sendable {
    /// A system clock that was read between two readings of the boot clock.
    public struct Reading: Sendable {
        let before: BootInstant
        let wall: WallInstant
        let after: BootInstant

        public init(before: BootInstant, wall: WallInstant, after: BootInstant) {
            self.before = before
            self.wall = wall
            self.after = after
        }

        /// How long the reading took: what it says of the offset is uncertain by that much.
        public var width: TimeSpan { after - before }

        var leastOffset: TimeSpan { offset(at: after) }
        var greatestOffset: TimeSpan { offset(at: before) }
        var middleOffset: TimeSpan { offset(at: before + TimeSpan(microseconds: width.microseconds / 2)) }

        private func offset(at instant: BootInstant) -> TimeSpan {
            TimeSpan(microseconds: wall.microseconds.saturatingSubtracted(instant.microseconds))
        }
    }

    /// Below this a difference is noise of the reading: the offset stays, and with it an alarm that is set.
    public static let tolerance = TimeSpan(microseconds: 50)

    /// Above this a difference is told as a step; below it the offset is corrected in silence.
    public static let smallestStep = TimeSpan.milliseconds(1)

    /// The system clock less the boot clock, as it explains the readings.
    public private(set) var held: TimeSpan

    /// Holds an offset that was held before.
    public init(held: TimeSpan) {
        self.held = held
    }

    /// Holds the offset that a reading shows.
    public init(_ reading: Reading) {
        held = reading.middleOffset
    }

    /// The instant of a reading, and by how much the system clock was set since the one before, nil where it was not.
    ///
    /// A slow reading leaves the offset uncertain. What is nearest to the held one is taken: being held up in the midst
    /// of a reading never passes for a step.
    public mutating func take(_ reading: Reading) -> (now: Now, step: TimeSpan?) {
        let nearest = min(max(held, reading.leastOffset), reading.greatestOffset)
        let change = nearest - held
        if change.magnitude > Self.tolerance.magnitude { held = nearest }
        return (Now(boot: reading.before, offset: held), change.magnitude >= Self.smallestStep.magnitude ? change : nil)
    }
}

extension TimeSpan {
    fileprivate var magnitude: UInt64 { microseconds.magnitude }
}
