/// One lifecycle step of one countdown.
public struct Change: Hashable, Sendable {
    public enum Kind: Sendable {
        case started
        case restarted
        case adjusted
        case paused
        case resumed
        case finished
        case cancelled
    }

    /// What happened.
    public let kind: Kind
    /// The countdown as it is after the step.
    public let countdown: Countdown
    /// The revision that the countdown had before; nil where it began under a key that was not live.
    public let replaced: Revision?
}

/// What it takes to take a change back.
public struct Applied: Sendable {
    public let change: Change
    let slot: Slot
    let origin: Origin

    enum Origin: Sendable {
        /// The entry is new; the key stood for this one before, or for none.
        case new(instead: Slot?)
        /// The entry was live, as this countdown, behind this one in its list; its key hid this kept end, or none.
        case live(Countdown, after: Slot, hiding: Slot?)
    }
}
