public import Varlink

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
