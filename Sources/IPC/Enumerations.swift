/// Where a countdown is in its life.
public enum State: Sendable, CaseIterable {
    /// It has a deadline.
    case running
    /// It keeps its remaining time.
    case paused
    /// It reached its deadline, or was told to by `Finish`.
    case finished
    /// It was ended before its deadline.
    case cancelled
}

/// What a deadline follows when the system clock is set.
public enum Clock: Sendable, CaseIterable {
    /// The time that is left stays.
    case elapsed
    /// The instant stays.
    case wall
}

/// What an event tells.
public enum EventType: Sendable, CaseIterable {
    /// A countdown that was running or paused when the watch began.
    case attached
    /// All that was running or paused has been told.
    case synced
    /// A countdown began.
    case started
    /// A countdown that was running or paused began anew.
    case restarted
    /// Time was added or taken, or, without a revision, the system clock was set.
    case adjusted
    /// A countdown was frozen.
    case paused
    /// A countdown runs again.
    case resumed
    /// So much remains; never stored.
    case tick
    /// A countdown reached its deadline, or was told to.
    case finished
    /// A countdown was ended before its deadline.
    case cancelled
    /// Nothing else happened for as long as the watcher asked.
    case heartbeat
}

/// What `Start` does where the key is running or paused.
public enum IfRunning: String, Sendable, CaseIterable {
    /// Change nothing; the default.
    case attach
    /// Begin anew with what the call says.
    case restart
    /// Add the duration.
    case extend
    /// Answer `AlreadyRunning`.
    case fail
}

/// What `Start` did.
public enum Outcome: Sendable, CaseIterable {
    /// A countdown began.
    case started
    /// One was running or paused; nothing changed.
    case attached
    /// The one that was running or paused began anew.
    case restarted
    /// The duration was added to the one that was running or paused.
    case extended
}

/// An enumeration each value of which is one word on the wire, and which is written so often that no string is made of it.
public protocol WireEnumeration: RawRepresentable<String>, CaseIterable, Sendable {
    /// What stands for the value.
    var word: StaticString { get }
}

extension WireEnumeration {
    /// The word as a string.
    public var rawValue: String { word.description }

    /// The value that a word stands for, nil where there is none.
    public init?(rawValue: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = value
    }
}

extension State: WireEnumeration {
    public var word: StaticString {
        switch self {
        case .running: "running"
        case .paused: "paused"
        case .finished: "finished"
        case .cancelled: "cancelled"
        }
    }
}

extension Clock: WireEnumeration {
    public var word: StaticString {
        switch self {
        case .elapsed: "elapsed"
        case .wall: "wall"
        }
    }
}

extension Outcome: WireEnumeration {
    public var word: StaticString {
        switch self {
        case .started: "started"
        case .attached: "attached"
        case .restarted: "restarted"
        case .extended: "extended"
        }
    }
}

extension EventType: WireEnumeration {
    public var word: StaticString {
        switch self {
        case .attached: "attached"
        case .synced: "synced"
        case .started: "started"
        case .restarted: "restarted"
        case .adjusted: "adjusted"
        case .paused: "paused"
        case .resumed: "resumed"
        case .tick: "tick"
        case .finished: "finished"
        case .cancelled: "cancelled"
        case .heartbeat: "heartbeat"
        }
    }
}
