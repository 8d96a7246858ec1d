/// The number of a change; every change of every countdown has one of its own, and they only grow.
public struct Revision: Comparable, Hashable, Sendable {
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }

    public static func < (left: Revision, right: Revision) -> Bool {
        left.number < right.number
    }

    var next: Revision { Revision(number + 1) }
    var previous: Revision { Revision(number - 1) }
}

/// What a deadline follows when the system clock is set.
public enum Clock: Sendable {
    /// What is left stays: 60 s take 60 s.
    case elapsed
    /// The instant stays: 17:30 is when the clock on the wall says so.
    case wall
}

/// The instant at which a running countdown ends, on the clock that it follows.
public enum Deadline: Hashable, Sendable {
    case elapsed(BootInstant)
    case wall(WallInstant)

    /// The clock that it lies on.
    public var clock: Clock {
        switch self {
        case .elapsed: .elapsed
        case .wall: .wall
        }
    }

    /// What is left of it, negative once it has passed.
    public func remaining(at now: Now) -> TimeSpan {
        switch self {
        case .elapsed(let instant): instant - now.boot
        case .wall(let instant): instant - now.wall
        }
    }

    /// What the system clock says, or will say, at that instant.
    public func wall(at now: Now) -> WallInstant {
        switch self {
        case .elapsed(let instant): now.wall(of: instant)
        case .wall(let instant): instant
        }
    }

    /// The same deadline moved by a length, on the same clock.
    func moved(by span: TimeSpan) -> Deadline {
        switch self {
        case .elapsed(let instant): .elapsed(instant + span)
        case .wall(let instant): .wall(instant + span)
        }
    }
}

/// Where a countdown stands.
public enum Phase: Hashable, Sendable {
    case running(until: Deadline)
    case paused(remaining: TimeSpan)
    /// `late` is how long after the deadline it was ended; zero where it was told to finish.
    case finished(at: WallInstant, late: TimeSpan)
    case cancelled(at: WallInstant, remaining: TimeSpan)
}

/// What runs, or ran, under a key.
public struct Countdown: Hashable, Sendable {
    public let key: Key
    public internal(set) var phase: Phase
    public internal(set) var clock: Clock
    /// The whole length with all that was added or taken, pauses not counted.
    public internal(set) var length: TimeSpan
    public let started: WallInstant
    /// What its starter calls it and keeps with it.
    var texts: Texts
    /// Whether nothing is kept of it after its end.
    public let forget: Bool
    /// That of its last change.
    public internal(set) var revision: Revision

    public init(
        key: Key,
        phase: Phase,
        clock: Clock,
        length: TimeSpan,
        started: WallInstant,
        label: String? = nil,
        metadata: [String: String] = [:],
        forget: Bool = false,
        revision: Revision
    ) {
        self.init(
            key: key,
            phase: phase,
            clock: clock,
            length: length,
            started: started,
            texts: Texts(label: label, metadata: metadata),
            forget: forget,
            revision: revision
        )
    }

    /// A countdown whose texts are kept already.
    init(
        key: Key,
        phase: Phase,
        clock: Clock,
        length: TimeSpan,
        started: WallInstant,
        texts: Texts,
        forget: Bool,
        revision: Revision
    ) {
        self.key = key
        self.phase = phase
        self.clock = clock
        self.length = length
        self.started = started
        self.texts = texts
        self.forget = forget
        self.revision = revision
    }

    /// What its starter calls it.
    public var label: String? { texts.label }
    /// What its starter keeps with it.
    public var metadata: [String: String] { texts.metadata }
    /// Whether it has a label or metadata.
    public var hasTexts: Bool {
        if case .none = texts { return false }
        return true
    }

    /// About the bytes of its key, label and metadata.
    public var textBytes: Int { key.withBytes { $0.count } + texts.size }

    /// Whether it is running or paused.
    public var isLive: Bool {
        switch phase {
        case .running, .paused: true
        case .finished, .cancelled: false
        }
    }

    /// When it ended, nil while it is live.
    public var ended: WallInstant? {
        switch phase {
        case .running, .paused: nil
        case .finished(let instant, _), .cancelled(let instant, _): instant
        }
    }

    /// What is left: never negative, 0 when finished, what was left when cancelled.
    public func remaining(at now: Now) -> TimeSpan {
        switch phase {
        case .running(let deadline): max(.zero, deadline.remaining(at: now))
        case .paused(let remaining), .cancelled(_, let remaining): remaining
        case .finished: .zero
        }
    }

    /// The length, or what is left where that is more, because the system clock was set back: so progress is never
    /// less than nothing.
    public func length(at now: Now) -> TimeSpan {
        max(length, remaining(at: now))
    }
}

/// The label and the metadata of a countdown.
///
/// Few countdowns have any; those that have hold them in one place, so that a countdown is copied at the cost of one
/// reference however much its starter keeps with it.
enum Texts: Hashable, Sendable {
    case none
    indirect case some(label: String?, metadata: [String: String])

    init(label: String?, metadata: [String: String]) {
        self = label == nil && metadata.isEmpty ? .none : .some(label: label, metadata: metadata)
    }

    var label: String? {
        guard case .some(let label, _) = self else { return nil }
        return label
    }

    var metadata: [String: String] {
        guard case .some(_, let metadata) = self else { return [:] }
        return metadata
    }

    /// Their bytes, with what it takes to keep them: some 32 for a text, 96 for a pair.
    var size: Int {
        guard case .some(let label, let metadata) = self else { return 0 }
        let labelBytes = label.map { 32 + $0.utf8.count } ?? 0
        return metadata.reduce(labelBytes) { $0 + 96 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
