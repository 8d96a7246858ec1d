public import Varlink

/// Starts a countdown of `durationUSec` or until `deadlineUSec`, not both; where the key is running or paused,
/// `ifRunning` decides.
public struct Start: Method {
    public static let name = "Start"

    /// UTF-8, 1 to 255 bytes, no control characters.
    public var key: String
    /// Microseconds; 60 s where neither it nor a deadline is given.
    public var durationUSec: Int64?
    /// Microseconds since 1970; makes the countdown follow the system clock.
    public var deadlineUSec: Int64?
    /// `attach` where it is not given.
    public var ifRunning: IfRunning?
    /// What to call it.
    public var label: String?
    /// What to keep with it.
    public var metadata: [String: String]?
    /// Whether its ending is told to who watches or waits, and not kept.
    public var forget: Bool?

    @inlinable
    public init(
        key: String,
        durationUSec: Int64? = nil,
        deadlineUSec: Int64? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: [String: String]? = nil,
        forget: Bool? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.deadlineUSec = deadlineUSec
        self.ifRunning = ifRunning
        self.label = label
        self.metadata = metadata
        self.forget = forget
    }

    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRunning", ifRunning)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        var key = ""
        self = try Self.keyless(in: object) { key = String(copying: $0) }
        self.key = key
    }

    /// Reads the members but for the key, for whoever has keys in other words: the closure is given it.
    @inlinable
    public static func keyless(in object: JSONObject, key: (UTF8Span) -> Void) throws(InvalidParameter) -> Start {
        try object.allowOnly("key", "durationUSec", "deadlineUSec", "ifRunning", "label", "metadata", "forget")
        try object.withString("key", key)
        return Start(
            key: "",
            durationUSec: try object.integerIfPresent("durationUSec"),
            deadlineUSec: try object.integerIfPresent("deadlineUSec"),
            ifRunning: try object.valueIfPresent("ifRunning", as: IfRunning.self),
            label: try object.stringIfPresent("label"),
            metadata: try object.stringMapIfPresent("metadata"),
            forget: try object.booleanIfPresent("forget")
        )
    }

    /// What was done, and the countdown as it is now.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// What was done.
        public var outcome: Outcome
        /// The countdown under the key from now on.
        public var countdown: Countdown

        public init(outcome: Outcome, countdown: Countdown) {
            self.outcome = outcome
            self.countdown = countdown
        }

        public func encode(into writer: inout JSONWriter) { Self.encode(outcome, countdown, into: &writer) }

        /// Writes the members, for whoever has the countdown in other words.
        @inlinable
        public static func encode(_ outcome: Outcome, _ countdown: some JSONEncodable, into writer: inout JSONWriter) {
            writer.members(atMost: 32) { $0.first("outcome", word: outcome.word) }
            writer.member("countdown", countdown)
        }

        public init(decoding object: JSONObject) throws(InvalidParameter) {
            outcome = try object.value("outcome", as: Outcome.self)
            countdown = try object.decoded("countdown", as: Countdown.self)
        }
    }
}

/// A method whose one parameter is a key.
public protocol KeyMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }

    /// A call for the countdown under a key.
    init(key: String)
}

extension KeyMethod {
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        self.init(key: try Self.key(in: object) { String(copying: $0) })
    }

    /// Reads the parameters, for whoever has keys in other words, which the closure makes of it.
    @inlinable
    public static func key<Key>(in object: JSONObject, _ make: (UTF8Span) -> Key) throws(InvalidParameter) -> Key {
        try object.allowOnly("key")
        return try object.withString("key", make)
    }
}

/// The countdown under a key; one that ended is told until it is trimmed.
public struct Get: KeyMethod {
    public static let name = "Get"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}

/// Answered when the countdown under the key ends, at once where it has ended and is still known. Later calls on the
/// connection wait too.
public struct Wait: KeyMethod {
    public static let name = "Wait"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}

/// The countdowns whose key is one of `keys` or matches any of the patterns, in the order of their last change; with
/// `more` a page a reply.
public struct List: Method {
    public static let name = "List"

    /// Glob patterns; all countdowns where neither these nor keys are given.
    public var match: [String]?
    /// `running` and `paused` where they are not given.
    public var states: [State]?
    /// Keys, taken as they are.
    public var keys: [String]?
    /// Only the so many that end first, in that order.
    public var soonest: Int64?

    public init(match: [String]? = nil, states: [State]? = nil, keys: [String]? = nil, soonest: Int64? = nil) {
        self.match = match
        self.states = states
        self.keys = keys
        self.soonest = soonest
    }

    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("states", states)
        writer.memberIfPresent("keys", keys)
        writer.memberIfPresent("soonest", soonest)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("match", "states", "keys", "soonest")
        match = try object.stringsIfPresent("match")
        states = try object.valuesIfPresent("states", as: State.self)
        keys = try object.stringsIfPresent("keys")
        soonest = try object.integerIfPresent("soonest")
    }

    /// One page.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// In the order of the whole list.
        public var countdowns: [Countdown]

        public init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        public func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        public init(decoding object: JSONObject) throws(InvalidParameter) {
            countdowns = try object.decodedArray("countdowns", of: Countdown.self)
        }
    }
}

/// A method that changes the state of the countdown under a key, on condition of a revision where one is given.
public protocol ChangeMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }
    /// The revision that the countdown must have; `RevisionMismatch` where it has another.
    var ifRevision: Int64? { get }

    /// A call for the countdown under a key.
    init(key: String, ifRevision: Int64?)
}

extension ChangeMethod {
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("key", "ifRevision")
        self.init(key: try object.string("key"), ifRevision: try object.integerIfPresent("ifRevision"))
    }
}

/// Ends a countdown before its deadline.
public struct Cancel: ChangeMethod {
    public static let name = "Cancel"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Finishes a countdown now.
public struct Finish: ChangeMethod {
    public static let name = "Finish"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Freezes the remaining time.
public struct Pause: ChangeMethod {
    public static let name = "Pause"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Runs a paused countdown again, towards now plus what remained.
public struct Resume: ChangeMethod {
    public static let name = "Resume"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Adds or takes time, or sets another deadline: exactly one of both.
public struct Adjust: Method {
    /// The countdown as it is now.
    public typealias Reply = CountdownReply

    public static let name = "Adjust"

    /// The key of a countdown that runs or is paused.
    public var key: String
    /// Microseconds to add, or, below 0, to take.
    public var byUSec: Int64?
    /// Microseconds since 1970.
    public var deadlineUSec: Int64?
    /// The revision that the countdown must have; `RevisionMismatch` where it has another.
    public var ifRevision: Int64?

    public init(key: String, byUSec: Int64? = nil, deadlineUSec: Int64? = nil, ifRevision: Int64? = nil) {
        self.key = key
        self.byUSec = byUSec
        self.deadlineUSec = deadlineUSec
        self.ifRevision = ifRevision
    }

    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("byUSec", byUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("key", "byUSec", "deadlineUSec", "ifRevision")
        key = try object.string("key")
        byUSec = try object.integerIfPresent("byUSec")
        deadlineUSec = try object.integerIfPresent("deadlineUSec")
        ifRevision = try object.integerIfPresent("ifRevision")
    }
}

/// Follows countdowns; needs `more`.
public struct Watch: Method {
    public static let name = "Watch"

    /// Glob patterns, where `*` matches `/` too; all are followed where neither these nor keys are given.
    public var match: [String]?
    /// Microseconds between ticks, 0 for none; 1 s where it is not given.
    public var tickUSec: Int64?
    /// The newest revision that was seen: the endings after it are told, and what changed.
    public var since: Int64?
    /// Microseconds of silence after which a heartbeat is told.
    public var heartbeatUSec: Int64?
    /// Keys, taken as they are.
    public var keys: [String]?

    public init(
        match: [String]? = nil,
        tickUSec: Int64? = nil,
        since: Int64? = nil,
        heartbeatUSec: Int64? = nil,
        keys: [String]? = nil
    ) {
        self.match = match
        self.tickUSec = tickUSec
        self.since = since
        self.heartbeatUSec = heartbeatUSec
        self.keys = keys
    }

    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("tickUSec", tickUSec)
        writer.memberIfPresent("since", since)
        writer.memberIfPresent("heartbeatUSec", heartbeatUSec)
        writer.memberIfPresent("keys", keys)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("match", "tickUSec", "since", "heartbeatUSec", "keys")
        match = try object.stringsIfPresent("match")
        tickUSec = try object.integerIfPresent("tickUSec")
        since = try object.integerIfPresent("since")
        heartbeatUSec = try object.integerIfPresent("heartbeatUSec")
        keys = try object.stringsIfPresent("keys")
    }

    /// What happened since the reply before.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// In the order in which they happened.
        public var events: [Event]

        public init(events: [Event]) {
            self.events = events
        }

        public func encode(into writer: inout JSONWriter) {
            writer.member("events", events)
        }

        /// An event of a type that is not known is passed over, whatever it carries; any other that is ill-formed makes
        /// the reply invalid.
        public init(decoding object: JSONObject) throws(InvalidParameter) {
            events = []
            for event in try object.objects("events") where EventType(rawValue: try event.string("type")) != nil {
                events.append(try Event(decoding: event))
            }
        }
    }
}

/// Counters and limits of the daemon.
public struct GetStatus: Method {
    public static let name = "GetStatus"

    public init() {}

    public func encode(into writer: inout JSONWriter) {}

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly()
    }

    /// How the daemon is.
    public struct Reply: Sendable, Hashable {
        /// That of the daemon.
        public var version: String
        /// When the daemon started, in microseconds since 1970.
        public var startedUSec: Int64
        /// How many countdowns run.
        public var running: Int64
        /// How many countdowns are paused.
        public var paused: Int64
        /// How many clients are inside `Watch`.
        public var watchers: Int64
        /// How many clients are connected.
        public var connections: Int64
        /// That of the last change.
        public var revision: Int64
        /// The oldest that `Watch(since:)` can still begin after.
        public var oldestRevision: Int64
        /// What `LimitReached` can name, with its maximum.
        public var limits: [String: Int64]
        /// What the daemon has counted since its start.
        public var counters: [String: Int64]

        public init(
            version: String,
            startedUSec: Int64,
            running: Int64,
            paused: Int64,
            watchers: Int64,
            connections: Int64,
            revision: Int64,
            oldestRevision: Int64,
            limits: [String: Int64],
            counters: [String: Int64]
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
        }
    }
}

extension GetStatus.Reply: JSONEncodable, JSONDecodable {
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
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        version = try object.string("version")
        startedUSec = try object.integer("startedUSec")
        running = try object.integer("running")
        paused = try object.integer("paused")
        watchers = try object.integer("watchers")
        connections = try object.integer("connections")
        revision = try object.integer("revision")
        oldestRevision = try object.integer("oldestRevision")
        limits = try object.integerMap("limits")
        counters = try object.integerMap("counters")
    }
}
