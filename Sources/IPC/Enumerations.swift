public import Varlink

extension Countdown {
    /// The state of a countdown.
    public enum State: Sendable, CaseIterable {
        /// It has a deadline.
        case running
        /// It keeps its remaining time.
        case paused
        /// It reached its deadline, or `Finish` ended it.
        case finished
        /// `Cancel` ended it before its deadline.
        case cancelled
    }

    /// How a countdown behaves when the system clock is set.
    public enum Clock: Sendable, CaseIterable {
        /// The remaining time stays, and the deadline moves.
        case elapsed
        /// The deadline stays, and the remaining time changes.
        case wall
    }

    /// The result of a start.
    public enum Outcome: Sendable, CaseIterable {
        /// A countdown was started.
        case started
        /// A countdown was running or paused, and nothing changed.
        case attached
        /// The countdown that was running or paused was started again.
        case restarted
        /// The duration was added to the countdown that was running or paused.
        case extended
    }
}

extension Event {
    /// The type of an event.
    public enum Kind: Sendable, CaseIterable {
        /// A countdown that was running or paused when the watch began.
        case attached
        /// Everything that was running or paused has been reported.
        case synced
        /// A countdown was started.
        case started
        /// A countdown that was running or paused was started again.
        case restarted
        /// Time was added or taken, or, without a revision, the system clock was set.
        case adjusted
        /// A countdown was paused.
        case paused
        /// A paused countdown runs again.
        case resumed
        /// The remaining time, at whole multiples of the tick. Ticks are not stored.
        case tick
        /// A countdown reached its deadline, or `Finish` ended it.
        case finished
        /// `Cancel` ended a countdown before its deadline.
        case cancelled
        /// Nothing happened for the duration that the watch asked for.
        case heartbeat
    }
}

/// The action of a start if the key is running or paused.
public enum IfRunning: String, Sendable, CaseIterable, JSONReadable, JSONWritable {
    /// Change nothing; the default.
    case attach
    /// Start it again with the parameters of the call.
    case restart
    /// Add the duration; with `upTo` only if no more than that remains afterwards, otherwise refuse it.
    case extend
    /// The later deadline wins: the requested time becomes the remaining time if it is longer.
    case later
    /// Refuse it: ``CountdownError/alreadyRunning(_:retryAfter:)``.
    case fail
    /// Queue, and start it when it ends; with `upTo` extend it as soon as no more than that remains afterwards.
    case wait
}

/// An enumeration of words on the wire. They are static strings, because they are written very often.
public protocol WireEnumeration: RawRepresentable<String>, CaseIterable, Sendable, JSONReadable, JSONWritable {
    /// The word on the wire.
    var word: StaticString { get }
}

extension WireEnumeration {
    /// Writes the word, which needs no escapes.
    public func write(into writer: inout JSONWriter) { writer.write(word: word) }

    /// The word as a string.
    public var rawValue: String { word.description }

    /// The value with this word; nil if the word is unknown.
    public init?(rawValue: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = value
    }
}

extension Countdown.State: WireEnumeration {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .running: "running"
        case .paused: "paused"
        case .finished: "finished"
        case .cancelled: "cancelled"
        }
    }
}

extension Countdown.Clock: WireEnumeration {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .elapsed: "elapsed"
        case .wall: "wall"
        }
    }
}

extension Countdown.Outcome: WireEnumeration {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .started: "started"
        case .attached: "attached"
        case .restarted: "restarted"
        case .extended: "extended"
        }
    }
}

extension Event.Kind: WireEnumeration {
    /// The word on the wire.
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
