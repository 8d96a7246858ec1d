/// An enumeration each value of which is one word on the wire, and which is written so often that no string is made of it.
public protocol Word: RawRepresentable<String>, CaseIterable, Sendable {
    /// What stands for the value.
    var word: StaticString { get }
}

extension Word {
    /// The word as a string.
    public var rawValue: String { word.description }

    /// The value that a word stands for, nil where there is none.
    public init?(rawValue: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = value
    }
}

extension State: Word {
    public var word: StaticString {
        switch self {
        case .running: "running"
        case .paused: "paused"
        case .finished: "finished"
        case .cancelled: "cancelled"
        }
    }
}

extension Clock: Word {
    public var word: StaticString {
        switch self {
        case .elapsed: "elapsed"
        case .wall: "wall"
        }
    }
}

extension Outcome: Word {
    public var word: StaticString {
        switch self {
        case .started: "started"
        case .attached: "attached"
        case .restarted: "restarted"
        case .extended: "extended"
        }
    }
}

extension EventType: Word {
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
