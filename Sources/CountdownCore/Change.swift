/// One step in the life of one countdown.
public struct Change: Hashable, Sendable {
    /// What happened to the countdown; the raw value is its name for people.
    public enum Kind: String, Sendable {
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
    /// The countdown after the change.
    public let countdown: KeyedCountdown
    /// The revision of the live countdown before; nil if the key was not live.
    public let replaced: Revision?
}

/// The state that `undo` must have of a change that was applied.
public struct Applied: Sendable {
    let slot: Slot
    let origin: Origin

    enum Origin: Sendable {
        /// The entry is new; its key found this kept end before, or nothing.
        case new(instead: Slot?)
        /// The entry was this live countdown, behind the given entry in its list; its key hid this kept end, or none.
        case live(KeyedCountdown, after: Slot, hiding: Slot?)
    }
}
