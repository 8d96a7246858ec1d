/// A change that a client asks for.
public enum Request: Sendable {
    case start(Start)
    case cancel(Key, ifRevision: Revision? = nil)
    case finish(Key, ifRevision: Revision? = nil)
    case pause(Key, ifRevision: Revision? = nil)
    case resume(Key, ifRevision: Revision? = nil)
    case adjust(Key, Adjustment, ifRevision: Revision? = nil)

    /// The key of the countdown.
    public var key: Key {
        switch self {
        case .start(let start): start.key
        case .cancel(let key, _), .finish(let key, _), .pause(let key, _), .resume(let key, _): key
        case .adjust(let key, _, _): key
        }
    }

    /// The revision that the countdown must have; nil for any.
    public var ifRevision: Revision? {
        switch self {
        case .start: nil
        case .cancel(_, let revision), .finish(_, let revision), .pause(_, let revision), .resume(_, let revision),
            .adjust(_, _, let revision):
            revision
        }
    }

    /// What to do if the key is running or paused.
    public enum IfLive: Sendable {
        case attach
        case restart
        case extend
        /// The remaining time becomes that of the request, if that is longer.
        case later
        case fail
        /// Wait until the key is neither running nor paused, behind the calls that wait already.
        case wait
    }

    /// When a new countdown ends.
    public enum End: Hashable, Sendable {
        case after(Duration)
        case at(WallInstant)
    }

    /// How a deadline is moved.
    public enum Adjustment: Hashable, Sendable {
        /// Adds to the remaining time and to the duration, or subtracts from them.
        case by(Duration)
        /// Sets the deadline; the countdown follows the system clock from then on.
        case to(WallInstant)
    }

    /// The fields of a new or restarted countdown.
    public struct Start: Sendable {
        /// The key of the countdown.
        public var key: Key
        /// Nil means the default duration.
        public var end: End?
        /// What to do if the key is running or paused.
        public var ifLive: IfLive
        /// A line for people; nil for none.
        public var label: String?
        /// Pairs to keep with the countdown; nil for none.
        public var metadata: Metadata?
        /// Whether its end is not kept.
        public var forget: Bool
        private let bounds: Bounds

        /// Few starts have any. They are boxed, because a request of more than 128 bytes is copied by a call of `memcpy`.
        private enum Bounds: Sendable {
            case none
            indirect case some(upTo: Duration?, maxDuration: Duration?, queueUpTo: Int64?)
        }

        /// The fields of a countdown, which `decide` checks.
        public init(
            _ key: Key,
            _ end: End? = nil,
            ifLive: IfLive = .attach,
            label: String? = nil,
            metadata: Metadata? = nil,
            forget: Bool = false,
            upTo: Duration? = nil,
            maxDuration: Duration? = nil,
            queueUpTo: Int64? = nil
        ) {
            self.key = key
            self.end = end
            self.ifLive = ifLive
            self.label = label
            self.metadata = metadata
            self.forget = forget
            bounds =
                upTo == nil && maxDuration == nil && queueUpTo == nil
                ? .none : .some(upTo: upTo, maxDuration: maxDuration, queueUpTo: queueUpTo)
        }

        /// The most that may remain after `extend` or `wait`; nil if `extend` may always add, and `wait` never.
        public var upTo: Duration? { if case .some(let upTo, _, _) = bounds { upTo } else { nil } }
        /// How long the countdown may run in all before `later` changes nothing more; nil without such a bound.
        public var maxDuration: Duration? { if case .some(_, let most, _) = bounds { most } else { nil } }
        /// How many starts may queue for the key after `wait` has joined them; nil for any number.
        public var queueUpTo: Int64? { if case .some(_, _, let places) = bounds { places } else { nil } }

        /// The memory that its key, label and metadata take while it waits, in bytes.
        public var size: Int { key.withBytes { $0.count } + annotations.size }

        /// The label and metadata of the new countdown.
        var annotations: Annotations {
            label == nil && metadata == nil ? .none : Annotations(label: label, metadata: metadata ?? Metadata())
        }
    }
}

/// Why a request was refused; nothing has changed.
public enum Refusal: Error, Equatable, Sendable {
    case noSuchCountdown(Key)
    /// `retryAfter` is how long until the same request succeeds if there is no other change; nil if that is unknown.
    case alreadyRunning(KeyedCountdown, retryAfter: Duration?)
    case revisionMismatch(KeyedCountdown)
    case wrongState(KeyedCountdown)
    case limitReached(Limit, maximum: Int)
    /// A parameter is out of range.
    case outOfRange(Parameter)

    /// A limited resource.
    public enum Limit: Sendable {
        case countdowns
        case labelBytes
        case metadataPairs
        case metadataBytes
        case textBytesInAll
    }

    /// A parameter that is out of range.
    public enum Parameter: Sendable {
        /// A duration below 1 µs or above 100 years.
        case duration
        /// An instant that is not in the future, or more than 100 years ahead; any deadline if only a duration is allowed.
        case deadline
        /// An adjustment after which more than 100 years would remain.
        case adjustment
        /// A maximum of the remaining time that is shorter than the duration, or that does not apply.
        case upTo
        /// A bound for `later` that is shorter than the duration, or that does not apply.
        case maxDuration
        /// A number of places in the queue below 1, or one that does not apply.
        case queueUpTo
    }
}

/// The result of a client's request.
public enum CallResult: Equatable, Sendable {
    /// The change was made.
    case changed(Change.Kind, KeyedCountdown)
    /// The key is live, and the request has not changed it.
    case attached(KeyedCountdown)
    /// The request was refused.
    case refused(Refusal)
    /// The change was certainly not made; the reason in words.
    case notMade(String)
    /// The change may have been made, or may be lost; the reason in words.
    case unknown(String)
}
