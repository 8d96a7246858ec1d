/// What a caller asks of the timetable.
public enum Request: Sendable {
    case start(Start)
    case cancel(Key, ifRevision: Revision? = nil)
    case finish(Key, ifRevision: Revision? = nil)
    case pause(Key, ifRevision: Revision? = nil)
    case resume(Key, ifRevision: Revision? = nil)
    case adjust(Key, Adjustment, ifRevision: Revision? = nil)

    /// What to do where the key is running or paused.
    public enum IfLive: Sendable {
        case attach
        case restart
        case extend
        case fail
    }

    /// When a countdown that is started ends.
    public enum End: Hashable, Sendable {
        case after(TimeSpan)
        case at(WallInstant)
    }

    /// How a deadline is moved.
    public enum Adjustment: Hashable, Sendable {
        /// Adds to what is left and to the length, or takes from them.
        case by(TimeSpan)
        /// Sets the deadline; the countdown follows the system clock from then on.
        case to(WallInstant)
    }

    /// What a countdown is to be, where the key is not live or is begun anew.
    public struct Start: Sendable {
        /// The name that it shall have.
        public var key: Key
        /// Nil stands for the default length.
        public var end: End?
        public var ifLive: IfLive
        public var label: String?
        public var metadata: [String: String]?
        public var forget: Bool

        public init(
            _ key: Key,
            _ end: End? = nil,
            ifLive: IfLive = .attach,
            label: String? = nil,
            metadata: [String: String]? = nil,
            forget: Bool = false
        ) {
            self.key = key
            self.end = end
            self.ifLive = ifLive
            self.label = label
            self.metadata = metadata
            self.forget = forget
        }

        /// Those of a countdown that begins.
        var texts: Texts {
            label == nil && metadata == nil ? .none : Texts(label: label, metadata: metadata ?? [:])
        }
    }
}

/// Why a request is not carried out; nothing has changed then.
public enum Refusal: Error, Equatable, Sendable {
    case noSuchCountdown(Key)
    case alreadyRunning(Countdown)
    case revisionMismatch(Countdown)
    case wrongState(Countdown)
    case limitReached(Limit, maximum: Int)
    /// What was asked lies outside of what can be had.
    case outOfRange(Parameter)

    /// What there can be only so much of.
    public enum Limit: Sendable {
        case countdowns
        case labelBytes
        case metadataPairs
        case metadataBytes
        case textBytesInAll
    }

    /// What a caller named that is out of range.
    public enum Parameter: Sendable {
        /// A length below 1 µs or above 100 years.
        case length
        /// An instant that is not ahead, or more than 100 years; one where only a length will do.
        case deadline
        /// An adjustment that leads more than 100 years ahead.
        case adjustment
    }
}
