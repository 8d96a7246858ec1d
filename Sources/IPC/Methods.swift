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

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        let key: String
        (key, self) = try Self.read(from: &reader)
        self.key = key
    }

    /// Reads the parameters with the key as a value of another type, so that no string has to be made of it; the key of
    /// the result is empty.
    @inlinable
    public static func read<Key: JSONReadable>(
        from reader: inout JSONReader,
        keyAs type: Key.Type = Key.self
    ) throws(InvalidParameter) -> (key: Key, start: Start) {
        var key = JSONMember<Key>("key")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRunning = JSONMember<IfRunning>("ifRunning")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<[String: String]>("metadata")
        var forget = JSONMember<Bool>("forget")
        try reader.members {
            key.read(&$0) || durationUSec.read(&$0) || deadlineUSec.read(&$0) || ifRunning.read(&$0)
                || label.read(&$0) || metadata.read(&$0) || forget.read(&$0)
        }
        let start = Start(
            key: "",
            durationUSec: try durationUSec.optional,
            deadlineUSec: try deadlineUSec.optional,
            ifRunning: try ifRunning.optional,
            label: try label.optional,
            metadata: try metadata.optional,
            forget: try forget.optional
        )
        return (try key.required, start)
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

        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var outcome = JSONMember<Outcome>("outcome")
            var countdown = JSONMember<Countdown>("countdown")
            reader.knownMembers { outcome.read(&$0) || countdown.read(&$0) }
            self.outcome = try outcome.required
            self.countdown = try countdown.required
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

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        self.init(key: try Self.key(from: &reader))
    }

    /// Reads the parameters with the key as a value of another type, so that no string has to be made of it.
    @inlinable
    public static func key<Key: JSONReadable>(
        from reader: inout JSONReader,
        as type: Key.Type = Key.self
    ) throws(InvalidParameter) -> Key {
        var key = JSONMember<Key>("key")
        try reader.members { key.read(&$0) }
        return try key.required
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

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var match = JSONMember<[String]>("match")
        var states = JSONMember<[State]>("states")
        var keys = JSONMember<[String]>("keys")
        var soonest = JSONMember<Int64>("soonest")
        try reader.members { match.read(&$0) || states.read(&$0) || keys.read(&$0) || soonest.read(&$0) }
        self.match = try match.optional
        self.states = try states.optional
        self.keys = try keys.optional
        self.soonest = try soonest.optional
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

        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var countdowns = JSONMember<[Countdown]>("countdowns")
            reader.knownMembers { countdowns.read(&$0) }
            self.countdowns = try countdowns.required
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

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.init(key: try key.required, ifRevision: try ifRevision.optional)
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

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var byUSec = JSONMember<Int64>("byUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members {
            key.read(&$0) || byUSec.read(&$0) || deadlineUSec.read(&$0) || ifRevision.read(&$0)
        }
        self.key = try key.required
        self.byUSec = try byUSec.optional
        self.deadlineUSec = try deadlineUSec.optional
        self.ifRevision = try ifRevision.optional
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

        /// Events of an unknown type, which a newer daemon may add, are skipped; any other event that is invalid makes the
        /// reply invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var events = JSONMember<[KnownEvent]>("events")
            reader.knownMembers { events.read(&$0) }
            self.events = try events.required.compactMap(\.event)
        }
    }
}

/// Returns counters and limits of the daemon.
public struct GetStatus: Method {
    public static let name = "GetStatus"

    public init() {}

    public func encode(into writer: inout JSONWriter) {}

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        try reader.members { _ in false }
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
        reader.knownMembers {
            version.read(&$0) || startedUSec.read(&$0) || running.read(&$0) || paused.read(&$0) || watchers.read(&$0)
                || connections.read(&$0) || revision.read(&$0) || oldestRevision.read(&$0) || limits.read(&$0)
                || counters.read(&$0)
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
    }
}
