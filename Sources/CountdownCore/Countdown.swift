/// The number of a change. Every change of every countdown has its own number, and the numbers only grow.
public struct Revision: Comparable, Hashable, Sendable {
    /// The number; a later change of any countdown has a greater one.
    public let number: Int64

    /// The revision with a number.
    public init(_ number: Int64) { self.number = number }

    /// An earlier change is less than a later one.
    public static func < (left: Revision, right: Revision) -> Bool { left.number < right.number }

    var next: Revision { Revision(number + 1) }
    var previous: Revision { Revision(number - 1) }
}

/// What stays the same when the system clock is set; the raw value is its name for people.
public enum DeadlineClock: String, Sendable {
    /// The remaining time: 60 s take 60 s.
    case elapsed
    /// The deadline: 17:30 is when the clock on the wall says so.
    case wall
}

/// The instant at which a running countdown ends, on its clock.
public enum Deadline: Hashable, Sendable {
    case elapsed(BootInstant)
    case wall(WallInstant)

    /// Its clock.
    public var clock: DeadlineClock {
        switch self {
        case .elapsed: .elapsed
        case .wall: .wall
        }
    }

    /// The time until the deadline; negative after it.
    public func remaining(at now: Now) -> Duration {
        switch self {
        case .elapsed(let instant): instant - now.boot
        case .wall(let instant): instant - now.wall
        }
    }

    /// The time of the system clock at the deadline.
    public func wall(at now: Now) -> WallInstant {
        switch self {
        case .elapsed(let instant): now.wall(of: instant)
        case .wall(let instant): instant
        }
    }

    /// The deadline moved by a duration, on the same clock.
    func moved(by duration: Duration) -> Deadline {
        switch self {
        case .elapsed(let instant): .elapsed(instant + duration)
        case .wall(let instant): .wall(instant + duration)
        }
    }
}

/// The state of a countdown.
public enum Phase: Hashable, Sendable {
    case running(until: Deadline)
    case paused(remaining: Duration)
    /// `late` is how long after the deadline the daemon ended it; zero if a client finished it.
    case finished(at: WallInstant, late: Duration)
    case cancelled(at: WallInstant, remaining: Duration)
}

/// The state of a countdown, without its instants; the raw value is its name for people.
public enum CountdownState: String, Sendable {
    case running
    case paused
    case finished
    case cancelled

    /// Whether such a countdown is running or paused.
    public var isLive: Bool { self == .running || self == .paused }
}

extension Phase {
    /// The state alone.
    public var state: CountdownState {
        switch self {
        case .running: .running
        case .paused: .paused
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }
}

/// A countdown: running, paused or ended.
public struct KeyedCountdown: Hashable, Sendable {
    /// The name under which clients find it.
    public let key: Key
    /// Its state, with the instants that belong to it.
    public internal(set) var phase: Phase
    /// The clock that its deadline is kept against; of an ended countdown, the last one.
    public internal(set) var clock: DeadlineClock
    /// The whole duration with all extensions and adjustments, without pauses.
    public internal(set) var duration: Duration
    /// The time of the system clock when it was started or restarted.
    public let started: WallInstant
    /// Label and metadata.
    var annotations: Annotations
    /// Whether it is not kept after its end.
    public let forget: Bool
    /// The number of its last change.
    public internal(set) var revision: Revision

    /// A line for people.
    public var label: String? { annotations.label }
    /// Pairs that the client stores with the countdown.
    public var metadata: Metadata { annotations.metadata }
    /// Whether it has a label or metadata.
    public var hasAnnotations: Bool { if case .none = annotations { false } else { true } }

    /// The bytes of its key, label and metadata, with the memory to keep them.
    public var textBytes: Int { key.withBytes { $0.count } + annotations.size }

    /// Whether it is running or paused.
    public var isLive: Bool {
        switch phase {
        case .running, .paused: true
        case .finished, .cancelled: false
        }
    }

    /// When it ended; nil while it is live.
    public var ended: WallInstant? {
        switch phase {
        case .running, .paused: nil
        case .finished(let instant, _), .cancelled(let instant, _): instant
        }
    }

    /// The remaining time: never negative; 0 if finished; if cancelled, the time that remained.
    public func remaining(at now: Now) -> Duration {
        switch phase {
        case .running(let deadline): max(.zero, deadline.remaining(at: now))
        case .paused(let remaining), .cancelled(_, let remaining): remaining
        case .finished: .zero
        }
    }

    /// The duration; the remaining time if that is more because the system clock was set back, so that progress is never negative.
    public func duration(at now: Now) -> Duration { max(duration, remaining(at: now)) }
}

extension KeyedCountdown {
    /// A countdown as it was stored.
    public init(
        key: Key,
        phase: Phase,
        clock: DeadlineClock,
        duration: Duration,
        started: WallInstant,
        label: String? = nil,
        metadata: Metadata = Metadata(),
        forget: Bool = false,
        revision: Revision
    ) {
        self.init(
            key: key,
            phase: phase,
            clock: clock,
            duration: duration,
            started: started,
            annotations: Annotations(label: label, metadata: metadata),
            forget: forget,
            revision: revision
        )
    }
}

/// The label and the metadata of a countdown.
///
/// Few countdowns have any. They are boxed, so that copying a countdown copies one reference.
enum Annotations: Hashable, Sendable {
    case none
    indirect case some(label: String?, metadata: Metadata)

    init(label: String?, metadata: Metadata) {
        self = label == nil && metadata.isEmpty ? .none : .some(label: label, metadata: metadata)
    }

    var label: String? { if case .some(let label, _) = self { label } else { nil } }
    var metadata: Metadata { if case .some(_, let metadata) = self { metadata } else { Metadata() } }

    /// Their bytes, with the memory to keep them: about 32 for a label, 96 for a pair.
    var size: Int {
        guard case .some(let label, let metadata) = self else { return 0 }
        let labelBytes = label.map { 32 + $0.utf8.count } ?? 0
        return labelBytes + 96 * metadata.count + metadata.bytes
    }
}
