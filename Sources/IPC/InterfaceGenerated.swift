// Made by varlink-generate from io.countdownd.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `io.countdownd`.
///
/// Keyed countdowns that outlive the programs that start them.
///
/// A countdown runs towards a deadline on the wall clock. It belongs to the daemon: a program that comes back with the
/// same key finds it still running. Instants are microseconds since 1970-01-01T00:00:00Z, durations are microseconds;
/// both stay below 2^53.
package enum Interface {
    /// The part before the last dot in the names of methods and errors.
    package static let name = "io.countdownd"

    /// Every method, in the order of the definition.
    package static let methods: [any Method.Type] = [
        Start.self,
        StartAll.self,
        Get.self,
        List.self,
        Cancel.self,
        Finish.self,
        Pause.self,
        Resume.self,
        Adjust.self,
        Wait.self,
        Watch.self,
        GetStatus.self,
    ]

    /// The interface as a service describes it.
    package static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    package static let definition = String(decoding: PackageResources.io_countdownd_varlink, as: UTF8.self)
}

extension Countdown {
    /// The states of a countdown.
    public enum State: WireEnumeration {
        /// It has a deadline.
        case running
        /// It keeps its remaining time.
        case paused
        /// It reached its deadline, or Finish ended it.
        case finished
        /// Cancel ended it before its deadline.
        case cancelled

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .running: "running"
            case .paused: "paused"
            case .finished: "finished"
            case .cancelled: "cancelled"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "running": self = .running
            case "paused": self = .paused
            case "finished": self = .finished
            case "cancelled": self = .cancelled
            default: return nil
            }
        }
    }
}

extension Countdown {
    /// What happens if the system clock is set: an elapsed countdown keeps its remaining time, a wall countdown keeps
    /// its deadline. A countdown is elapsed if it was started with a duration, and wall if it was started with a
    /// deadline or adjusted to one. Resume makes it elapsed.
    public enum Clock: WireEnumeration {
        case elapsed
        case wall

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .elapsed: "elapsed"
            case .wall: "wall"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "elapsed": self = .elapsed
            case "wall": self = .wall
            default: return nil
            }
        }
    }
}

/// A countdown.
public struct Countdown: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// The name that its starter chose.
    public var key: String
    /// Whether it is running, paused, finished or cancelled.
    public var state: Countdown.State
    /// Whether its remaining time or its deadline stays if the system clock is set.
    public var clock: Countdown.Clock
    package var durationUSec: Int64
    package var remainingUSec: Int64
    package var startedUSec: Int64
    package var deadlineUSec: Int64?
    package var endedUSec: Int64?
    /// A text for people.
    public var label: String?
    /// Values of its starter, which the daemon only stores.
    public var metadata: TextMap<String>?
    /// If true, the countdown is not kept after its end.
    public var forget: Bool
    /// The number of its last change.
    public var revision: Int64

    /// The whole duration with all extensions and adjustments, without pauses; 1 - remainingUSec / durationUSec is the
    /// progress.
    public var duration: Duration { .microseconds(durationUSec) }

    /// At the instant of the reply; 0 if finished; if cancelled, the time that remained when it was cancelled.
    public var remaining: Duration { .microseconds(remainingUSec) }

    /// The instant of its start, or of its last restart.
    public var started: Countdown.Instant { Countdown.Instant(microseconds: startedUSec) }

    /// Present while running.
    public var deadline: Countdown.Instant? { deadlineUSec.map(Countdown.Instant.init(microseconds:)) }

    /// Present after the end: the deadline, or the instant of the call that ended the countdown.
    public var ended: Countdown.Instant? { endedUSec.map(Countdown.Instant.init(microseconds:)) }

    /// The value with these members.
    package init(
        key: String,
        state: Countdown.State,
        clock: Countdown.Clock,
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

    /// Writes the members; those that are nil are left out.
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

    /// Reads the members. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var state = JSONMember<Countdown.State>("state")
        var clock = JSONMember<Countdown.Clock>("clock")
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

extension Event {
    /// A watch begins with one attached for each running or paused countdown that matches, then synced. Clients must
    /// ignore types that they do not know.
    public enum Kind: WireEnumeration {
        /// A countdown that is running or paused when the watch begins.
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
        /// The remaining time, at a whole multiple of the tick. It is not stored.
        case tick
        /// A countdown reached its deadline, or Finish ended it.
        case finished
        /// Cancel ended a countdown before its deadline.
        case cancelled
        /// Nothing happened for as long as the watch asked for.
        case heartbeat

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

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "attached": self = .attached
            case "synced": self = .synced
            case "started": self = .started
            case "restarted": self = .restarted
            case "adjusted": self = .adjusted
            case "paused": self = .paused
            case "resumed": self = .resumed
            case "tick": self = .tick
            case "finished": self = .finished
            case "cancelled": self = .cancelled
            case "heartbeat": self = .heartbeat
            default: return nil
            }
        }
    }
}

/// An event of a watch.
public struct Event: Sendable, Hashable, JSONEncodable, JSONExtensible {
    /// Decides the other members.
    public var type: Event.Kind
    /// In every change, synced and heartbeat, not in attached. From synced on, or in a watch with since from its
    /// beginning, the watcher has received all changes up to it, so the newest revision seen is the since of the next
    /// Watch.
    public var revision: Int64?
    /// Of the countdown, in every event except synced and heartbeat.
    public var key: String?
    package var remainingUSec: Int64?
    package var lateUSec: Int64?
    /// The countdown, in attached and in every change.
    public var countdown: Countdown?

    /// The remaining time, in every event except synced and heartbeat.
    public var remaining: Duration? { remainingUSec.map(Duration.microseconds) }

    /// In finished: how long after the deadline the daemon ended the countdown (microseconds, or hours after an
    /// outage). It is the same if the event is delivered again.
    public var late: Duration? { lateUSec.map(Duration.microseconds) }

    /// The value with these members.
    package init(
        type: Event.Kind,
        revision: Int64? = nil,
        key: String? = nil,
        remainingUSec: Int64? = nil,
        lateUSec: Int64? = nil,
        countdown: Countdown? = nil
    ) {
        self.type = type
        self.revision = revision
        self.key = key
        self.remainingUSec = remainingUSec
        self.lateUSec = lateUSec
        self.countdown = countdown
    }

    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("type", type)
        writer.memberIfPresent("revision", revision)
        writer.memberIfPresent("key", key)
        writer.memberIfPresent("remainingUSec", remainingUSec)
        writer.memberIfPresent("lateUSec", lateUSec)
        writer.memberIfPresent("countdown", countdown)
    }

    /// Reads the members. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        guard let known = try Self.ifKnown(from: &reader) else { throw InvalidParameter("type") }
        self = known
    }

    /// Reads the members; nil if the word of `type` is unknown, because a newer peer has added it.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public static func ifKnown(from reader: inout JSONReader) throws(InvalidParameter) -> Self? {
        var type = JSONMember<String>("type")
        var revision = JSONMember<Int64>("revision")
        var key = JSONMember<String>("key")
        var remainingUSec = JSONMember<Int64>("remainingUSec")
        var lateUSec = JSONMember<Int64>("lateUSec")
        var countdown = JSONMember<Countdown>("countdown")
        reader.knownMembers {
            type.read(&$0) || revision.read(&$0) || key.read(&$0) || remainingUSec.read(&$0) || lateUSec.read(&$0)
                || countdown.read(&$0)
        }
        guard let known = Event.Kind(rawValue: try type.required) else { return nil }
        return Self(
            type: known,
            revision: try revision.optional,
            key: try key.optional,
            remainingUSec: try remainingUSec.optional,
            lateUSec: try lateUSec.optional,
            countdown: try countdown.optional
        )
    }
}

/// A cooldown of durationUSec (the default: 60 s), or with upToUSec a rate, as in Start: a rate is the generic cell
/// rate algorithm (GCRA), which is a token bucket of upToUSec / durationUSec tokens.
public struct Cooldown: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// Of the countdown.
    public var key: String
    package var durationUSec: Int64?
    package var upToUSec: Int64?
    /// A text for people.
    public var label: String?
    /// Values that the daemon only stores.
    public var metadata: TextMap<String>?
    /// Whether the countdown is forgotten at its end.
    public var forget: Bool?

    /// The value with these members.
    package init(
        key: String,
        durationUSec: Int64? = nil,
        upToUSec: Int64? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.upToUSec = upToUSec
        self.label = label
        self.metadata = metadata
        self.forget = forget
    }

    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("upToUSec", upToUSec)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var upToUSec = JSONMember<Int64>("upToUSec")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var forget = JSONMember<Bool>("forget")
        try reader.members {
            key.read(&$0) || durationUSec.read(&$0) || upToUSec.read(&$0) || label.read(&$0) || metadata.read(&$0)
                || forget.read(&$0)
        }
        self.key = try key.required
        self.durationUSec = try durationUSec.optional
        self.upToUSec = try upToUSec.optional
        self.label = try label.optional
        self.metadata = try metadata.optional
        self.forget = try forget.optional
    }
}

extension Cooldown {
    /// What a cooldown has room for, after the call.
    public struct Room: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Of the cooldown.
        public var key: String
        /// How many such calls it would accept now, one after the other.
        public var left: Int64
        package var moreUSec: Int64?
        /// Absent if the key is neither running nor paused.
        public var countdown: Countdown?

        /// How long until left is one more; absent if everything is left, or if it cannot be known: the countdown is
        /// paused, or calls queue for it.
        public var more: Duration? { moreUSec.map(Duration.microseconds) }

        /// The value with these members.
        package init(key: String, left: Int64, moreUSec: Int64? = nil, countdown: Countdown? = nil) {
            self.key = key
            self.left = left
            self.moreUSec = moreUSec
            self.countdown = countdown
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("left", left)
            writer.memberIfPresent("moreUSec", moreUSec)
            writer.memberIfPresent("countdown", countdown)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var key = JSONMember<String>("key")
            var left = JSONMember<Int64>("left")
            var moreUSec = JSONMember<Int64>("moreUSec")
            var countdown = JSONMember<Countdown>("countdown")
            reader.knownMembers { key.read(&$0) || left.read(&$0) || moreUSec.read(&$0) || countdown.read(&$0) }
            self.key = try key.required
            self.left = try left.required
            self.moreUSec = try moreUSec.optional
            self.countdown = try countdown.optional
        }
    }
}

extension GetStatus {
    /// How long something took since the daemon's start.
    public struct Durations: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// How often it was measured.
        public var count: Int64
        package var sumUSec: Int64
        package var p50USec: Int64
        package var p99USec: Int64
        package var greatestUSec: Int64
        /// How many times were at most as long as each of some durations, by the number of microseconds; these counts
        /// are exact.
        package var atMost: [String: Int64]?

        /// The sum of all times.
        public var sum: Duration { .microseconds(sumUSec) }

        /// Half of the times were at most this long. Exact below 16 us, and otherwise at most a sixteenth too great.
        public var p50: Duration { .microseconds(p50USec) }

        /// 99 % of the times were at most this long. Exact below 16 us, and otherwise at most a sixteenth too great.
        public var p99: Duration { .microseconds(p99USec) }

        /// The greatest time.
        public var greatest: Duration { .microseconds(greatestUSec) }

        /// The value with these members.
        package init(
            count: Int64,
            sumUSec: Int64,
            p50USec: Int64,
            p99USec: Int64,
            greatestUSec: Int64,
            atMost: [String: Int64]? = nil
        ) {
            self.count = count
            self.sumUSec = sumUSec
            self.p50USec = p50USec
            self.p99USec = p99USec
            self.greatestUSec = greatestUSec
            self.atMost = atMost
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("count", count)
            writer.member("sumUSec", sumUSec)
            writer.member("p50USec", p50USec)
            writer.member("p99USec", p99USec)
            writer.member("greatestUSec", greatestUSec)
            writer.memberIfPresent("atMost", atMost)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var count = JSONMember<Int64>("count")
            var sumUSec = JSONMember<Int64>("sumUSec")
            var p50USec = JSONMember<Int64>("p50USec")
            var p99USec = JSONMember<Int64>("p99USec")
            var greatestUSec = JSONMember<Int64>("greatestUSec")
            var atMost = JSONMember<[String: Int64]>("atMost")
            reader.knownMembers {
                count.read(&$0) || sumUSec.read(&$0) || p50USec.read(&$0) || p99USec.read(&$0) || greatestUSec.read(&$0)
                    || atMost.read(&$0)
            }
            self.count = try count.required
            self.sumUSec = try sumUSec.required
            self.p50USec = try p50USec.required
            self.p99USec = try p99USec.required
            self.greatestUSec = try greatestUSec.required
            self.atMost = try atMost.optional
        }
    }
}

extension GetStatus {
    /// How a member of a fleet follows its countdowns.
    public enum ShardState: WireEnumeration {
        /// The daemon has just started, and has not reached the engine yet.
        case connecting
        /// It reads every countdown of the fleet.
        case snapshot
        /// It hears of every change.
        case live
        /// The engine cannot be reached. Ends are on time, and changes refused.
        case lost

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .connecting: "connecting"
            case .snapshot: "snapshot"
            case .live: "live"
            case .lost: "lost"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "connecting": self = .connecting
            case "snapshot": self = .snapshot
            case "live": self = .live
            case "lost": self = .lost
            default: return nil
            }
        }
    }
}

extension GetStatus {
    /// A part of the fleet's countdowns.
    public struct Shard: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// How it is followed.
        public var state: GetStatus.ShardState
        package var sinceUSec: Int64
        package var lagUSec: Int64
        /// Of connecting and lost, as a sentence; of live, why changes are refused.
        public var reason: String?

        /// Since when it is in its state.
        public var since: Countdown.Instant { Countdown.Instant(microseconds: sinceUSec) }

        /// For how long changes of other machines may have been missing here.
        public var lag: Duration { .microseconds(lagUSec) }

        /// The value with these members.
        package init(state: GetStatus.ShardState, sinceUSec: Int64, lagUSec: Int64, reason: String? = nil) {
            self.state = state
            self.sinceUSec = sinceUSec
            self.lagUSec = lagUSec
            self.reason = reason
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("state", state)
            writer.member("sinceUSec", sinceUSec)
            writer.member("lagUSec", lagUSec)
            writer.memberIfPresent("reason", reason)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var state = JSONMember<GetStatus.ShardState>("state")
            var sinceUSec = JSONMember<Int64>("sinceUSec")
            var lagUSec = JSONMember<Int64>("lagUSec")
            var reason = JSONMember<String>("reason")
            reader.knownMembers { state.read(&$0) || sinceUSec.read(&$0) || lagUSec.read(&$0) || reason.read(&$0) }
            self.state = try state.required
            self.sinceUSec = try sinceUSec.required
            self.lagUSec = try lagUSec.required
            self.reason = try reason.optional
        }
    }
}

extension GetStatus {
    /// The engine that a fleet shares, as this member knows it.
    public struct Fleet: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Its name and version. Present once it was reached.
        public var engine: String?
        /// The name of the fleet. Present once the engine was reached.
        public var namespace: String?
        /// The parts of its countdowns.
        public var shards: [GetStatus.Shard]
        package var clockAheadUSec: Int64?
        package var clockErrorUSec: Int64?
        /// How long the engine took to answer, with the way there and back.
        public var roundTrip: GetStatus.Durations

        /// How far the engine's clock is ahead of the system clock. Present once it was reached.
        public var clockAhead: Duration? { clockAheadUSec.map(Duration.microseconds) }

        /// How far off that may be. Present once it was reached.
        public var clockError: Duration? { clockErrorUSec.map(Duration.microseconds) }

        /// The value with these members.
        package init(
            engine: String? = nil,
            namespace: String? = nil,
            shards: [GetStatus.Shard],
            clockAheadUSec: Int64? = nil,
            clockErrorUSec: Int64? = nil,
            roundTrip: GetStatus.Durations
        ) {
            self.engine = engine
            self.namespace = namespace
            self.shards = shards
            self.clockAheadUSec = clockAheadUSec
            self.clockErrorUSec = clockErrorUSec
            self.roundTrip = roundTrip
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.memberIfPresent("engine", engine)
            writer.memberIfPresent("namespace", namespace)
            writer.member("shards", shards)
            writer.memberIfPresent("clockAheadUSec", clockAheadUSec)
            writer.memberIfPresent("clockErrorUSec", clockErrorUSec)
            writer.member("roundTrip", roundTrip)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var engine = JSONMember<String>("engine")
            var namespace = JSONMember<String>("namespace")
            var shards = JSONMember<[GetStatus.Shard]>("shards")
            var clockAheadUSec = JSONMember<Int64>("clockAheadUSec")
            var clockErrorUSec = JSONMember<Int64>("clockErrorUSec")
            var roundTrip = JSONMember<GetStatus.Durations>("roundTrip")
            reader.knownMembers {
                engine.read(&$0) || namespace.read(&$0) || shards.read(&$0) || clockAheadUSec.read(&$0)
                    || clockErrorUSec.read(&$0) || roundTrip.read(&$0)
            }
            self.engine = try engine.optional
            self.namespace = try namespace.optional
            self.shards = try shards.required
            self.clockAheadUSec = try clockAheadUSec.optional
            self.clockErrorUSec = try clockErrorUSec.optional
            self.roundTrip = try roundTrip.required
        }
    }
}

/// A key has 1 to 255 bytes of UTF-8 and no control characters. The limits of labels and metadata are in GetStatus.
///
/// Start a countdown, either with durationUSec (the default: 60 s) or until deadlineUSec; from 1 us to 100 years ahead.
/// If the key is already running or paused, ifRunning decides.
///
/// With forget, the end is delivered to current watchers and waiting calls, and is not kept: a later Watch with since
/// does not deliver it.
///
/// With upToUSec, extend and wait leave at most that much time remaining; of a paused countdown the frozen time counts.
/// If more would remain, extend fails with AlreadyRunning and changes nothing, and wait queues. So upToUSec /
/// durationUSec calls succeed at once, then one per durationUSec. upToUSec is at least durationUSec, and refused with
/// any other ifRunning.
///
/// With maxDurationUSec, later leaves at most that much time less the time that the countdown has run, which is
/// durationUSec - remainingUSec of the countdown: calls that come again and again cannot postpone its end forever.
/// Pauses do not count, Adjust changes both sides, and restart begins anew. It is at least durationUSec, and refused
/// with deadlineUSec and with any other ifRunning.
///
/// Queued calls of a key are served in the order of their arrival. When the countdown ends, the first one starts it in
/// the same turn, before any other call can, and its durationUSec counts from then: watchers receive the end and then
/// started, the caller gets the outcome started. With upToUSec the first one is also served as soon as there is room,
/// with the outcome extended. Restart, extend, later and Pause keep the queue. While calls queue, extend with upToUSec
/// fails. Later calls on the connection wait too. A call leaves the queue if its client disconnects; it stays if the
/// client only stops sending. If the start cannot be stored, all queued calls of the key get StorageFailed; if a limit
/// prevents it, the call gets LimitReached and the next one is served.
///
/// With queueUpTo, at least 1, a wait that would queue fails with AlreadyRunning if that many calls queue for the key
/// already; it is refused with any other ifRunning. With 1, of all calls that come while a key is held, exactly one
/// gets it afterwards.
///
/// The outcomes.
@usableFromInline
package struct Start: Method {
    /// The name of the interface.
    @usableFromInline
    package static var interface: String { Interface.name }
    /// The name within the interface.
    @usableFromInline
    package static let name = "Start"

    package var key: String
    package var durationUSec: Int64?
    package var deadlineUSec: Int64?
    package var ifRunning: IfRunning?
    package var label: String?
    package var metadata: TextMap<String>?
    package var forget: Bool?
    package var upToUSec: Int64?
    package var maxDurationUSec: Int64?
    package var queueUpTo: Int64?

    /// The value with these members.
    @usableFromInline
    package init(
        key: String,
        durationUSec: Int64? = nil,
        deadlineUSec: Int64? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upToUSec: Int64? = nil,
        maxDurationUSec: Int64? = nil,
        queueUpTo: Int64? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.deadlineUSec = deadlineUSec
        self.ifRunning = ifRunning
        self.label = label
        self.metadata = metadata
        self.forget = forget
        self.upToUSec = upToUSec
        self.maxDurationUSec = maxDurationUSec
        self.queueUpTo = queueUpTo
    }

    /// Writes the members; those that are nil are left out.
    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRunning", ifRunning)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
        writer.memberIfPresent("upToUSec", upToUSec)
        writer.memberIfPresent("maxDurationUSec", maxDurationUSec)
        writer.memberIfPresent("queueUpTo", queueUpTo)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        let key: String
        (key, self) = try Self.read(from: &reader)
        self.key = key
    }

    /// Reads the members. `key` is read as a value of another type, and is empty in the result.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @inlinable
    package static func read<OtherKey: JSONReadable>(
        from reader: inout JSONReader,
        keyAs _: OtherKey.Type = OtherKey.self
    ) throws(InvalidParameter) -> (OtherKey, Self) {
        var key = JSONMember<OtherKey>("key")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRunning = JSONMember<IfRunning>("ifRunning")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var forget = JSONMember<Bool>("forget")
        var upToUSec = JSONMember<Int64>("upToUSec")
        var maxDurationUSec = JSONMember<Int64>("maxDurationUSec")
        var queueUpTo = JSONMember<Int64>("queueUpTo")
        try reader.members {
            key.read(&$0) || durationUSec.read(&$0) || deadlineUSec.read(&$0) || ifRunning.read(&$0) || label.read(&$0)
                || metadata.read(&$0) || forget.read(&$0) || upToUSec.read(&$0) || maxDurationUSec.read(&$0)
                || queueUpTo.read(&$0)
        }
        let value = Self(
            key: "",
            durationUSec: try durationUSec.optional,
            deadlineUSec: try deadlineUSec.optional,
            ifRunning: try ifRunning.optional,
            label: try label.optional,
            metadata: try metadata.optional,
            forget: try forget.optional,
            upToUSec: try upToUSec.optional,
            maxDurationUSec: try maxDurationUSec.optional,
            queueUpTo: try queueUpTo.optional
        )
        return (try key.required, value)
    }
}

public enum IfRunning: WireEnumeration {
    /// Nothing changes.
    case attach
    /// The countdown begins again with the parameters of this call.
    case restart
    /// DurationUSec (the default: 60 s) is added, deadlineUSec is refused; a paused countdown stays paused; label and
    /// metadata change if they are given; forget stays as it is; watchers receive adjusted.
    case extend
    /// The later deadline wins. If the requested time is longer than the remaining time, it becomes the remaining time:
    /// the outcome is extended, durationUSec grows by the difference, the clock becomes that of the request, label and
    /// metadata change if they are given, watchers receive adjusted. Otherwise nothing changes, and the outcome is
    /// attached. A paused countdown stays paused, and its frozen time is compared; deadlineUSec is then WrongState.
    /// startedUSec and forget stay as they are.
    case later
    /// The error AlreadyRunning.
    case fail
    /// The call queues until its turn comes, then it starts the countdown; deadlineUSec is refused.
    case wait

    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .attach: "attach"
        case .restart: "restart"
        case .extend: "extend"
        case .later: "later"
        case .fail: "fail"
        case .wait: "wait"
        }
    }

    /// The word as a string.
    public var rawValue: String { word.description }

    /// The value with this word; nil if the word is unknown.
    public init?(rawValue: String) {
        switch rawValue {
        case "attach": self = .attach
        case "restart": self = .restart
        case "extend": self = .extend
        case "later": self = .later
        case "fail": self = .fail
        case "wait": self = .wait
        default: return nil
        }
    }
}

extension Start {
    @usableFromInline
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        package var outcome: Countdown.Outcome
        package var countdown: Countdown

        /// The value with these members.
        @usableFromInline
        package init(outcome: Countdown.Outcome, countdown: Countdown) {
            self.outcome = outcome
            self.countdown = countdown
        }

        /// Writes the members.
        @usableFromInline
        package func encode(into writer: inout JSONWriter) {
            Self.encode(into: &writer, outcome: outcome, countdown: { countdown.encode(into: &$0) })
        }

        /// Writes the members; a closure writes the members of `countdown`.
        @inlinable
        package static func encode(
            into writer: inout JSONWriter,
            outcome: Countdown.Outcome,
            countdown: (inout JSONWriter) -> Void
        ) {
            writer.member("outcome", outcome)
            writer.member("countdown", object: countdown)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        @usableFromInline
        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var outcome = JSONMember<Countdown.Outcome>("outcome")
            var countdown = JSONMember<Countdown>("countdown")
            reader.knownMembers { outcome.read(&$0) || countdown.read(&$0) }
            self.outcome = try outcome.required
            self.countdown = try countdown.required
        }
    }
}

extension Countdown {
    public enum Outcome: WireEnumeration {
        /// A countdown was started.
        case started
        /// A countdown was running or paused, and nothing changed.
        case attached
        /// The countdown that was running or paused was started again.
        case restarted
        /// Time was added to the countdown that was running or paused.
        case extended

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .started: "started"
            case .attached: "attached"
            case .restarted: "restarted"
            case .extended: "extended"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "started": self = .started
            case "attached": self = .attached
            case "restarted": self = .restarted
            case "extended": self = .extended
            default: return nil
            }
        }
    }
}

/// Start or extend the countdowns of all cooldowns, or of none. At most 16, each key once; otherwise InvalidParameter.
///
/// accepted is false exactly if Start of one of them, with fail, or with extend if it has upToUSec, gives
/// AlreadyRunning; all other errors are those of Start. An InvalidParameter of any cooldown comes before LimitReached
/// of any, and that before a refusal. The changes have consecutive revisions and one instant. A call that weighs more
/// has a longer durationUSec with the same upToUSec. If upToUSec is changed, what remains counts under the new one. A
/// call whose answer was lost may have counted.
///
/// In a fleet, more than one cooldown is LimitReached with the limit cooldownsInFleet, and dryRun is answered from the
/// countdowns that the machine knows.
package struct StartAll: Method {
    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "StartAll"

    package var cooldowns: [Cooldown]
    package var dryRun: Bool?

    /// The value with these members.
    package init(cooldowns: [Cooldown], dryRun: Bool? = nil) {
        self.cooldowns = cooldowns
        self.dryRun = dryRun
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("cooldowns", cooldowns)
        writer.memberIfPresent("dryRun", dryRun)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var cooldowns = JSONMember<[Cooldown]>("cooldowns")
        var dryRun = JSONMember<Bool>("dryRun")
        try reader.members { cooldowns.read(&$0) || dryRun.read(&$0) }
        self.cooldowns = try cooldowns.required
        self.dryRun = try dryRun.optional
    }
}

extension StartAll {
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Whether it was done, or with dryRun, whether it would be. With dryRun nothing changes, and rooms is the
        /// state before.
        package var accepted: Bool
        /// In the order of the cooldowns.
        package var rooms: [Cooldown.Room]
        /// Only if not accepted: how long until the same call is, if nothing else changes; absent if it cannot be
        /// known.
        package var retryAfterUSec: Int64?

        /// The value with these members.
        package init(accepted: Bool, rooms: [Cooldown.Room], retryAfterUSec: Int64? = nil) {
            self.accepted = accepted
            self.rooms = rooms
            self.retryAfterUSec = retryAfterUSec
        }

        /// Writes the members; those that are nil are left out.
        package func encode(into writer: inout JSONWriter) {
            writer.member("accepted", accepted)
            writer.member("rooms", rooms)
            writer.memberIfPresent("retryAfterUSec", retryAfterUSec)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var accepted = JSONMember<Bool>("accepted")
            var rooms = JSONMember<[Cooldown.Room]>("rooms")
            var retryAfterUSec = JSONMember<Int64>("retryAfterUSec")
            reader.knownMembers { accepted.read(&$0) || rooms.read(&$0) || retryAfterUSec.read(&$0) }
            self.accepted = try accepted.required
            self.rooms = try rooms.required
            self.retryAfterUSec = try retryAfterUSec.optional
        }
    }
}

/// The countdown under a key. After its end it is returned for as long as the daemon keeps it. If a countdown with
/// forget ends, the answer is the newest end under this key that is still kept, or NoSuchCountdown.
@usableFromInline
package struct Get: Method {
    /// What the method answers.
    @usableFromInline
    package typealias Reply = CountdownReply

    /// The name of the interface.
    @usableFromInline
    package static var interface: String { Interface.name }
    /// The name within the interface.
    @usableFromInline
    package static let name = "Get"

    package var key: String

    /// The value with these members.
    @usableFromInline
    package init(key: String) {
        self.key = key
    }

    /// Writes the members.
    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        let key: String
        key = try Self.read(from: &reader)
        self.key = key
    }

    /// Reads the members. `key` is read as a value of another type.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @inlinable
    package static func read<OtherKey: JSONReadable>(
        from reader: inout JSONReader,
        keyAs _: OtherKey.Type = OtherKey.self
    ) throws(InvalidParameter) -> OtherKey {
        var key = JSONMember<OtherKey>("key")
        try reader.members { key.read(&$0) }
        return try key.required
    }
}

@usableFromInline
package struct CountdownReply: Sendable, Hashable, JSONEncodable, JSONDecodable {
    package var countdown: Countdown

    /// The value with these members.
    @usableFromInline
    package init(countdown: Countdown) {
        self.countdown = countdown
    }

    /// Writes the members.
    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        Self.encode(into: &writer, countdown: { countdown.encode(into: &$0) })
    }

    /// Writes the members; a closure writes the members of `countdown`.
    @inlinable
    package static func encode(into writer: inout JSONWriter, countdown: (inout JSONWriter) -> Void) {
        writer.member("countdown", object: countdown)
    }

    /// Reads the members. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var countdown = JSONMember<Countdown>("countdown")
        reader.knownMembers { countdown.read(&$0) }
        self.countdown = try countdown.required
    }
}

/// Countdowns whose key is in keys or matches a glob pattern in match; all countdowns if neither is given. states
/// defaults to running and paused. The order is that of the last change. With soonest, at most that many countdowns, in
/// the order of their deadlines, then paused ones.
///
/// With more, one page per reply; without more, the error ExpectedMore if one page is too small. Each page shows the
/// state at one instant. With soonest, or with at most 256 keys and no patterns, all pages show the same instant.
/// Otherwise a countdown that changes before the last page may appear again, and none is missed.
///
/// A pattern matches a whole key: "*" any number of characters, "?" one character, "[ab]" and "[a-z]" one of these,
/// "[!ab]" and "[^ab]" one of the others. A "]" directly after the opening is literal. There are no escapes: "\" is an
/// ordinary character, "[*]" is a literal star. An empty pattern and a "[" without "]" are an InvalidParameter.
package struct List: Method {
    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "List"

    package var match: [String]?
    package var states: [Countdown.State]?
    package var keys: [String]?
    package var soonest: Int64?

    /// The value with these members.
    package init(
        match: [String]? = nil,
        states: [Countdown.State]? = nil,
        keys: [String]? = nil,
        soonest: Int64? = nil
    ) {
        self.match = match
        self.states = states
        self.keys = keys
        self.soonest = soonest
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("states", states)
        writer.memberIfPresent("keys", keys)
        writer.memberIfPresent("soonest", soonest)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var match = JSONMember<[String]>("match")
        var states = JSONMember<[Countdown.State]>("states")
        var keys = JSONMember<[String]>("keys")
        var soonest = JSONMember<Int64>("soonest")
        try reader.members { match.read(&$0) || states.read(&$0) || keys.read(&$0) || soonest.read(&$0) }
        self.match = try match.optional
        self.states = try states.optional
        self.keys = try keys.optional
        self.soonest = try soonest.optional
    }
}

extension List {
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        package var countdowns: [Countdown]

        /// The value with these members.
        package init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        /// Writes the members.
        package func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var countdowns = JSONMember<[Countdown]>("countdowns")
            reader.knownMembers { countdowns.read(&$0) }
            self.countdowns = try countdowns.required
        }
    }
}

/// End a countdown before its deadline.
package struct Cancel: Method {
    /// What the method answers.
    package typealias Reply = CountdownReply

    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "Cancel"

    package var key: String
    package var ifRevision: Int64?

    /// The value with these members.
    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.key = try key.required
        self.ifRevision = try ifRevision.optional
    }
}

/// Finish a countdown now.
package struct Finish: Method {
    /// What the method answers.
    package typealias Reply = CountdownReply

    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "Finish"

    package var key: String
    package var ifRevision: Int64?

    /// The value with these members.
    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.key = try key.required
        self.ifRevision = try ifRevision.optional
    }
}

/// Freeze the remaining time.
package struct Pause: Method {
    /// What the method answers.
    package typealias Reply = CountdownReply

    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "Pause"

    package var key: String
    package var ifRevision: Int64?

    /// The value with these members.
    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.key = try key.required
        self.ifRevision = try ifRevision.optional
    }
}

/// Run again for the remaining time. The countdown is elapsed from now on.
package struct Resume: Method {
    /// What the method answers.
    package typealias Reply = CountdownReply

    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "Resume"

    package var key: String
    package var ifRevision: Int64?

    /// The value with these members.
    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.key = try key.required
        self.ifRevision = try ifRevision.optional
    }
}

/// Change the remaining time, with exactly one of both parameters.
package struct Adjust: Method {
    /// What the method answers.
    package typealias Reply = CountdownReply

    /// The name of the interface.
    package static var interface: String { Interface.name }
    /// The name within the interface.
    package static let name = "Adjust"

    package var key: String
    /// Added to the remaining time and to the duration; may be negative; if nothing remains, the countdown finishes
    /// now. The clock stays, and a paused countdown stays paused.
    package var byUSec: Int64?
    /// The new deadline; the countdown becomes wall. A paused countdown has no deadline: the error WrongState.
    package var deadlineUSec: Int64?
    package var ifRevision: Int64?

    /// The value with these members.
    package init(key: String, byUSec: Int64? = nil, deadlineUSec: Int64? = nil, ifRevision: Int64? = nil) {
        self.key = key
        self.byUSec = byUSec
        self.deadlineUSec = deadlineUSec
        self.ifRevision = ifRevision
    }

    /// Writes the members; those that are nil are left out.
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("byUSec", byUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var byUSec = JSONMember<Int64>("byUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || byUSec.read(&$0) || deadlineUSec.read(&$0) || ifRevision.read(&$0) }
        self.key = try key.required
        self.byUSec = try byUSec.optional
        self.deadlineUSec = try deadlineUSec.optional
        self.ifRevision = try ifRevision.optional
    }
}

/// The reply comes when the countdown under the key ends, finished or cancelled; at once if it has ended and is still
/// kept. Pauses, restarts and extensions prolong the wait. Later calls on this connection wait too.
@usableFromInline
package struct Wait: Method {
    /// What the method answers.
    @usableFromInline
    package typealias Reply = CountdownReply

    /// The name of the interface.
    @usableFromInline
    package static var interface: String { Interface.name }
    /// The name within the interface.
    @usableFromInline
    package static let name = "Wait"

    package var key: String

    /// The value with these members.
    @usableFromInline
    package init(key: String) {
        self.key = key
    }

    /// Writes the members.
    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        let key: String
        key = try Self.read(from: &reader)
        self.key = key
    }

    /// Reads the members. `key` is read as a value of another type.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @inlinable
    package static func read<OtherKey: JSONReadable>(
        from reader: inout JSONReader,
        keyAs _: OtherKey.Type = OtherKey.self
    ) throws(InvalidParameter) -> OtherKey {
        var key = JSONMember<OtherKey>("key")
        try reader.members { key.read(&$0) }
        return try key.required
    }
}

/// Follow countdowns; needs more. keys are exact; match has glob patterns, in which "*" matches "/" too. All countdowns
/// are followed if neither is given.
///
/// The first replies carry the current state: an attached for each running or paused countdown, then synced. If a
/// countdown changes before synced, an attached with its new state may follow, or its end, also without an attached.
/// Later replies carry changes, and a tick at each whole multiple of tickUSec that remains (the default: 1 s; 0: no
/// ticks), but none at the full duration and none at 0.
///
/// With since, the first replies carry, in the order of revisions: every kept end after that revision, and an attached
/// for each running or paused countdown that changed after it; then synced.
///
/// A watch without since never fails with HistoryTrimmed. If more ends come while it reads the current state than the
/// daemon holds for it, the error is LimitReached with the limit endsHeldForWatches.
///
/// With heartbeatUSec, a heartbeat comes whenever that long has passed without an event. Its revision keeps since
/// recent if the followed keys rarely change.
///
/// To miss no event of a countdown: Watch, read until synced, then Start it on another connection.
public struct Watch: Method {
    /// The name of the interface.
    public static var interface: String { Interface.name }
    /// The name within the interface.
    public static let name = "Watch"

    public var match: [String]?
    package var tickUSec: Int64?
    public var since: Int64?
    package var heartbeatUSec: Int64?
    public var keys: [String]?

    /// The value with these members.
    package init(match: [String]?, tickUSec: Int64?, since: Int64?, heartbeatUSec: Int64?, keys: [String]?) {
        self.match = match
        self.tickUSec = tickUSec
        self.since = since
        self.heartbeatUSec = heartbeatUSec
        self.keys = keys
    }

    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("tickUSec", tickUSec)
        writer.memberIfPresent("since", since)
        writer.memberIfPresent("heartbeatUSec", heartbeatUSec)
        writer.memberIfPresent("keys", keys)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var match = JSONMember<[String]>("match")
        var tickUSec = JSONMember<Int64>("tickUSec")
        var since = JSONMember<Int64>("since")
        var heartbeatUSec = JSONMember<Int64>("heartbeatUSec")
        var keys = JSONMember<[String]>("keys")
        try reader.members {
            match.read(&$0) || tickUSec.read(&$0) || since.read(&$0) || heartbeatUSec.read(&$0) || keys.read(&$0)
        }
        self.match = try match.optional
        self.tickUSec = try tickUSec.optional
        self.since = try since.optional
        self.heartbeatUSec = try heartbeatUSec.optional
        self.keys = try keys.optional
    }
}

extension Watch {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var events: [Event]

        /// The value with these members.
        package init(events: [Event]) {
            self.events = events
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("events", events)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var events = JSONMember<[IfKnown<Event>]>("events")
            reader.knownMembers { events.read(&$0) }
            self.events = try events.required.compactMap(\.value)
        }
    }
}

/// Counters and limits of the daemon.
public struct GetStatus: Method {
    /// The name of the interface.
    public static var interface: String { Interface.name }
    /// The name within the interface.
    public static let name = "GetStatus"

    /// The value.
    package init() {}

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {}

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        try reader.members { _ in false }
    }
}

extension GetStatus {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Of the daemon.
        public var version: String
        package var startedUSec: Int64
        /// The number of running countdowns.
        public var running: Int64
        /// The number of paused countdowns.
        public var paused: Int64
        /// The number of watches.
        public var watchers: Int64
        /// The number of connections.
        public var connections: Int64
        /// Of the last change.
        public var revision: Int64
        /// The oldest that Watch accepts as since.
        public var oldestRevision: Int64
        /// The maximums that LimitReached can name, and durations in microseconds, whose names end in USec.
        public var limits: [String: Int64]
        /// Since the daemon's start.
        public var counters: [String: Int64]
        /// The number of calls of Start that wait for their turn.
        public var queuedStarts: Int64?
        /// The engine of the fleet; present if the countdowns are shared.
        public var fleet: GetStatus.Fleet?
        /// How late countdowns ended whose deadline came while the daemon ran.
        public var lateness: GetStatus.Durations?
        /// How much waits now. unsentBytes: for clients to read it; receivedBytes: the memory for calls that are not
        /// carried out yet; heldEnds: ends beyond the history, for watches that read the current state;
        /// unstoredChanges: ends that could not be stored yet; logPages: of 4 KiB, of the files of the store. In a
        /// fleet, fleetCalls: calls without an answer; fleetProposals: sent to the engine, and not answered.
        public var queues: [String: Int64]?
        /// Why changes cannot be stored, or why the engine of the fleet has refused the last change; absent if changes
        /// are made. If the store could not be opened yet, revision is 0, and nothing is counted.
        public var storageFailure: String?

        /// When the daemon started.
        public var started: Countdown.Instant { Countdown.Instant(microseconds: startedUSec) }

        /// The value with these members.
        package init(
            version: String,
            startedUSec: Int64,
            running: Int64,
            paused: Int64,
            watchers: Int64,
            connections: Int64,
            revision: Int64,
            oldestRevision: Int64,
            limits: [String: Int64],
            counters: [String: Int64],
            queuedStarts: Int64? = nil,
            fleet: GetStatus.Fleet? = nil,
            lateness: GetStatus.Durations? = nil,
            queues: [String: Int64]? = nil,
            storageFailure: String? = nil
        ) {
            self.version = version
            self.startedUSec = startedUSec
            self.running = running
            self.paused = paused
            self.watchers = watchers
            self.connections = connections
            self.revision = revision
            self.oldestRevision = oldestRevision
            self.limits = limits
            self.counters = counters
            self.queuedStarts = queuedStarts
            self.fleet = fleet
            self.lateness = lateness
            self.queues = queues
            self.storageFailure = storageFailure
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("version", version)
            writer.member("startedUSec", startedUSec)
            writer.member("running", running)
            writer.member("paused", paused)
            writer.member("watchers", watchers)
            writer.member("connections", connections)
            writer.member("revision", revision)
            writer.member("oldestRevision", oldestRevision)
            writer.member("limits", limits)
            writer.member("counters", counters)
            writer.memberIfPresent("queuedStarts", queuedStarts)
            writer.memberIfPresent("fleet", fleet)
            writer.memberIfPresent("lateness", lateness)
            writer.memberIfPresent("queues", queues)
            writer.memberIfPresent("storageFailure", storageFailure)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var version = JSONMember<String>("version")
            var startedUSec = JSONMember<Int64>("startedUSec")
            var running = JSONMember<Int64>("running")
            var paused = JSONMember<Int64>("paused")
            var watchers = JSONMember<Int64>("watchers")
            var connections = JSONMember<Int64>("connections")
            var revision = JSONMember<Int64>("revision")
            var oldestRevision = JSONMember<Int64>("oldestRevision")
            var limits = JSONMember<[String: Int64]>("limits")
            var counters = JSONMember<[String: Int64]>("counters")
            var queuedStarts = JSONMember<Int64>("queuedStarts")
            var fleet = JSONMember<GetStatus.Fleet>("fleet")
            var lateness = JSONMember<GetStatus.Durations>("lateness")
            var queues = JSONMember<[String: Int64]>("queues")
            var storageFailure = JSONMember<String>("storageFailure")
            reader.knownMembers {
                version.read(&$0) || startedUSec.read(&$0) || running.read(&$0) || paused.read(&$0)
                    || watchers.read(&$0) || connections.read(&$0) || revision.read(&$0) || oldestRevision.read(&$0)
                    || limits.read(&$0) || counters.read(&$0) || queuedStarts.read(&$0) || fleet.read(&$0)
                    || lateness.read(&$0) || queues.read(&$0) || storageFailure.read(&$0)
            }
            self.version = try version.required
            self.startedUSec = try startedUSec.required
            self.running = try running.required
            self.paused = try paused.required
            self.watchers = try watchers.required
            self.connections = try connections.required
            self.revision = try revision.required
            self.oldestRevision = try oldestRevision.required
            self.limits = try limits.required
            self.counters = try counters.required
            self.queuedStarts = try queuedStarts.optional
            self.fleet = try fleet.optional
            self.lateness = try lateness.optional
            self.queues = try queues.optional
            self.storageFailure = try storageFailure.optional
        }
    }
}

/// An error of the interface `io.countdownd`.
public enum CountdownError: InterfaceError {
    /// No countdown is known under this key.
    case noSuchCountdown(key: String)
    /// The key is running or paused, and ifRunning was fail, or upToUSec leaves no room for the extension, or queueUpTo
    /// no place in the queue. retryAfterUSec is how long until the same call succeeds if there is no other change;
    /// absent if the countdown is paused or calls queue for it.
    case alreadyRunning(Countdown, retryAfter: Duration?)
    /// The countdown has changed since ifRevision.
    case revisionMismatch(Countdown)
    /// The state does not allow the call: Pause of a paused countdown, Resume of a running one, Adjust of a paused one
    /// to a deadline, Start with later and a deadline if it is paused, any change after the end.
    case wrongState(Countdown)
    /// The daemon no longer has, or never had, all ends after since. Watch without since, then List the ends that are
    /// kept.
    case historyTrimmed(oldestRevision: Int64)
    /// A limit of the daemon is reached.
    case limitReached(limit: String, maximum: Int64)
    /// The change could not be stored and was not made. To a call that changes nothing, a Watch included: the daemon
    /// cannot open its store yet, so that it does not know the countdowns. Try later.
    case storageFailed(reason: String)
    /// Only a daemon of a fleet answers this. To a change: the engine that the fleet shares did not answer in time, and
    /// the change may have been made or not. Ask again with Get, or repeat a call that is safe to repeat. To a call
    /// that changes nothing: the daemon does not know the countdowns of the fleet.
    case unreachable(reason: String)

    /// The names of the errors on the wire, in the order of the definition.
    public enum WireName: String, Sendable, CaseIterable {
        case noSuchCountdown = "io.countdownd.NoSuchCountdown"
        case alreadyRunning = "io.countdownd.AlreadyRunning"
        case revisionMismatch = "io.countdownd.RevisionMismatch"
        case wrongState = "io.countdownd.WrongState"
        case historyTrimmed = "io.countdownd.HistoryTrimmed"
        case limitReached = "io.countdownd.LimitReached"
        case storageFailed = "io.countdownd.StorageFailed"
        case unreachable = "io.countdownd.Unreachable"
    }

    /// The name of the error.
    public var name: WireName {
        switch self {
        case .noSuchCountdown: .noSuchCountdown
        case .alreadyRunning: .alreadyRunning
        case .revisionMismatch: .revisionMismatch
        case .wrongState: .wrongState
        case .historyTrimmed: .historyTrimmed
        case .limitReached: .limitReached
        case .storageFailed: .storageFailed
        case .unreachable: .unreachable
        }
    }

    /// Writes the parameters of the error; those that are nil are left out.
    public func encodeParameters(into writer: inout JSONWriter) {
        switch self {
        case .noSuchCountdown(let key):
            writer.member("key", key)
        case .alreadyRunning(let countdown, let retryAfter):
            writer.member("countdown", countdown)
            writer.memberIfPresent("retryAfterUSec", microseconds: retryAfter)
        case .revisionMismatch(let countdown):
            writer.member("countdown", countdown)
        case .wrongState(let countdown):
            writer.member("countdown", countdown)
        case .historyTrimmed(let oldestRevision):
            writer.member("oldestRevision", oldestRevision)
        case .limitReached(let limit, let maximum):
            writer.member("limit", limit)
            writer.member("maximum", maximum)
        case .storageFailed(let reason):
            writer.member("reason", reason)
        case .unreachable(let reason):
            writer.member("reason", reason)
        }
    }

    /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
        switch name {
        case .noSuchCountdown: self = .noSuchCountdown(key: try reader.member("key"))
        case .alreadyRunning:
            self = .alreadyRunning(
                try reader.member("countdown"),
                retryAfter: try reader.durationIfPresent("retryAfterUSec")
            )
        case .revisionMismatch: self = .revisionMismatch(try reader.member("countdown"))
        case .wrongState: self = .wrongState(try reader.member("countdown"))
        case .historyTrimmed: self = .historyTrimmed(oldestRevision: try reader.member("oldestRevision"))
        case .limitReached:
            self = .limitReached(limit: try reader.member("limit"), maximum: try reader.member("maximum"))
        case .storageFailed: self = .storageFailed(reason: try reader.member("reason"))
        case .unreachable: self = .unreachable(reason: try reader.member("reason"))
        }
        reader.skipMembers()
    }
}
