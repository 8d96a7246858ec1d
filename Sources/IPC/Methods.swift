public import Varlink

/// Starts a countdown for `durationUSec` or until `deadlineUSec`, not both. If the key is running or paused, `ifRunning`
/// decides.
public struct Start: Method {
    public static let name = "Start"

    /// 1 to 255 bytes of UTF-8 without control characters.
    public var key: String
    /// Microseconds; 60 s if neither a duration nor a deadline is given.
    public var durationUSec: Int64?
    /// Microseconds since 1970. The countdown then follows the system clock.
    public var deadlineUSec: Int64?
    /// `attach` if it is nil.
    public var ifRunning: IfRunning?
    /// A text for people.
    public var label: String?
    /// Values that the daemon only stores.
    public var metadata: [String: String]?
    /// Whether the daemon forgets the countdown at its end, after it has reported the end.
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

    /// Reads the members without the key, which is handed to the closure. The daemon stores keys in another form.
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

    /// The outcome, and the countdown as it is now.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// What `Start` did.
        public var outcome: Outcome
        /// The countdown under the key.
        public var countdown: Countdown

        public init(outcome: Outcome, countdown: Countdown) {
            self.outcome = outcome
            self.countdown = countdown
        }

        public func encode(into writer: inout JSONWriter) { Self.encode(outcome, countdown, into: &writer) }

        /// Writes the members for a countdown in another form.
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

    /// Reads the parameters and converts the key.
    @inlinable
    public static func key<Key>(in object: JSONObject, _ make: (UTF8Span) -> Key) throws(InvalidParameter) -> Key {
        try object.allowOnly("key")
        return try object.withString("key", make)
    }
}

/// Returns the countdown under a key, also after its end as long as the daemon keeps it.
public struct Get: KeyMethod {
    public static let name = "Get"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}

/// Returns the countdown under a key when it ends, or at once if it has ended and the daemon still keeps it. Later calls on
/// the connection wait as well.
public struct Wait: KeyMethod {
    public static let name = "Wait"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}

/// Returns the countdowns whose key is one of `keys` or matches a pattern, in the order of their last change. With `more`,
/// every reply is a page.
public struct List: Method {
    public static let name = "List"

    /// Glob patterns. If there are neither patterns nor keys, every countdown matches.
    public var match: [String]?
    /// `running` and `paused` if it is nil.
    public var states: [State]?
    /// Keys without wildcards.
    public var keys: [String]?
    /// Return only this many countdowns, those that end first, in that order.
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

    /// A page of the list.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The countdowns, in the order of the list.
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

/// A method that changes the state of the countdown under a key, if it has the given revision.
public protocol ChangeMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }
    /// The revision that the countdown must have; otherwise the call fails with `RevisionMismatch`.
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

/// Pauses a countdown: its remaining time stays.
public struct Pause: ChangeMethod {
    public static let name = "Pause"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Lets a paused countdown run again for its remaining time.
public struct Resume: ChangeMethod {
    public static let name = "Resume"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Changes the remaining time or the deadline: exactly one of both.
public struct Adjust: Method {
    /// The countdown as it is now.
    public typealias Reply = CountdownReply

    public static let name = "Adjust"

    /// The key of a running or paused countdown.
    public var key: String
    /// Microseconds to add; a negative number takes from the remaining time.
    public var byUSec: Int64?
    /// Microseconds since 1970.
    public var deadlineUSec: Int64?
    /// The revision that the countdown must have; otherwise the call fails with `RevisionMismatch`.
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

/// Reports the events of countdowns. The call needs `more`.
public struct Watch: Method {
    public static let name = "Watch"

    /// Glob patterns; `*` matches `/` too. If there are neither patterns nor keys, every countdown is watched.
    public var match: [String]?
    /// Microseconds between ticks; 0 for none, 1 s if it is nil.
    public var tickUSec: Int64?
    /// The newest revision that the client has seen. The ends and the changes after it are reported.
    public var since: Int64?
    /// Microseconds without an event after which a heartbeat is sent.
    public var heartbeatUSec: Int64?
    /// Keys without wildcards.
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

    /// The events since the last reply.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The events, in the order in which they happened.
        public var events: [Event]

        public init(events: [Event]) {
            self.events = events
        }

        public func encode(into writer: inout JSONWriter) {
            writer.member("events", events)
        }

        /// Events of unknown types are ignored. Any other malformed event makes the reply invalid.
        public init(decoding object: JSONObject) throws(InvalidParameter) {
            events = []
            for event in try object.objects("events") where EventType(rawValue: try event.string("type")) != nil {
                events.append(try Event(decoding: event))
            }
        }
    }
}

/// Returns counters and limits of the daemon.
public struct GetStatus: Method {
    public static let name = "GetStatus"

    public init() {}

    public func encode(into writer: inout JSONWriter) {}

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly()
    }

    /// The status of the daemon.
    public struct Reply: Sendable, Hashable {
        /// The version of the daemon.
        public var version: String
        /// When the daemon started, in microseconds since 1970.
        public var startedUSec: Int64
        /// The number of running countdowns.
        public var running: Int64
        /// The number of paused countdowns.
        public var paused: Int64
        /// The number of watches.
        public var watchers: Int64
        /// The number of connections.
        public var connections: Int64
        /// The revision of the last change.
        public var revision: Int64
        /// The oldest revision that `Watch` accepts as `since`.
        public var oldestRevision: Int64
        /// The limits that `LimitReached` can name, with their maximums.
        public var limits: [String: Int64]
        /// The counters since the daemon's start.
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
