public import Varlink

/// A countdown as the daemon reports it.
public struct Countdown: Sendable, Hashable {
    /// The name that its starter chose: 1 to 255 bytes without control characters.
    public var key: String
    /// Whether it is running, paused, finished or cancelled.
    public var state: State
    /// Whether the remaining time or the deadline stays when the system clock is set.
    public var clock: Clock
    package var durationUSec: Int64
    package var remainingUSec: Int64
    package var startedUSec: Int64
    package var deadlineUSec: Int64?
    package var endedUSec: Int64?
    /// A text for people.
    public var label: String?
    /// Values of its starter, which the daemon only stores.
    public var metadata: TextMap<String>?
    /// Whether the daemon forgets it at its end.
    public var forget: Bool
    /// The revision of its last change.
    public var revision: Int64

    /// The whole duration, with everything that was added or taken, without pauses.
    public var duration: Duration { .microseconds(durationUSec) }
    /// The remaining time at the instant of the reply. 0 if it is finished; if it was cancelled, the time that was left.
    public var remaining: Duration { .microseconds(remainingUSec) }
    /// The instant of its start, or of its last restart.
    public var started: Instant { Instant(microseconds: startedUSec) }
    /// The instant of its end; nil while it is paused.
    public var deadline: Instant? { deadlineUSec.map(Instant.init) }
    /// The instant at which it ended; nil before.
    public var ended: Instant? { endedUSec.map(Instant.init) }

    package init(
        key: String,
        state: State,
        clock: Clock,
        durationUSec: Int64,
        remainingUSec: Int64,
        startedUSec: Int64,
        deadlineUSec: Int64? = nil,
        endedUSec: Int64? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool = false,
        revision: Int64
    ) {
        self.key = key
        self.state = state
        self.clock = clock
        self.durationUSec = durationUSec
        self.remainingUSec = remainingUSec
        self.startedUSec = startedUSec
        self.deadlineUSec = deadlineUSec
        self.endedUSec = endedUSec
        self.label = label
        self.metadata = metadata
        self.forget = forget
        self.revision = revision
    }
}

extension Countdown: JSONEncodable, JSONDecodable {
    /// Writes the members of the countdown; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.member("state", state)
        writer.member("clock", clock)
        writer.member("durationUSec", durationUSec)
        writer.member("remainingUSec", remainingUSec)
        writer.member("startedUSec", startedUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("endedUSec", endedUSec)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.member("forget", forget)
        writer.member("revision", revision)
    }

    /// Unknown members, which a newer daemon may add, are skipped.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var state = JSONMember<State>("state")
        var clock = JSONMember<Clock>("clock")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var remainingUSec = JSONMember<Int64>("remainingUSec")
        var startedUSec = JSONMember<Int64>("startedUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var endedUSec = JSONMember<Int64>("endedUSec")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var forget = JSONMember<Bool>("forget")
        var revision = JSONMember<Int64>("revision")
        reader.knownMembers {
            key.read(&$0) || state.read(&$0) || clock.read(&$0) || durationUSec.read(&$0) || remainingUSec.read(&$0)
                || startedUSec.read(&$0) || deadlineUSec.read(&$0) || endedUSec.read(&$0) || label.read(&$0)
                || metadata.read(&$0) || forget.read(&$0) || revision.read(&$0)
        }
        self.key = try key.required
        self.state = try state.required
        self.clock = try clock.required
        self.durationUSec = try durationUSec.required
        self.remainingUSec = try remainingUSec.required
        self.startedUSec = try startedUSec.required
        self.deadlineUSec = try deadlineUSec.optional
        self.endedUSec = try endedUSec.optional
        self.label = try label.optional
        self.metadata = try metadata.optional
        self.forget = try forget.required
        self.revision = try revision.required
    }
}

extension Countdown {
    /// From 0 at the beginning to 1 at the end.
    package var progress: Double {
        guard durationUSec > 0 else { return 1 }
        return min(max(1 - Double(remainingUSec) / Double(durationUSec), 0), 1)
    }

    /// How much has gone, from 0 to 100.
    package var percentGone: Int { Int((progress * 100).rounded(.down)) }
}
