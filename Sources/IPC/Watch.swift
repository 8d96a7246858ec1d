public import Varlink

/// The countdowns whose events a watch reports, and how.
public struct Watch: Method {
    package static let name = "Watch"

    /// Glob patterns; `*` matches `/` too. If there are neither patterns nor keys, every countdown is watched.
    public var match: [String]?
    package var tickUSec: Int64?
    /// The newest revision that the client has seen. The ends and the changes after it are reported.
    public var since: Int64?
    package var heartbeatUSec: Int64?
    /// Keys without wildcards.
    public var keys: [String]?

    /// A watch; without an argument it watches every countdown, with a tick each second.
    ///
    /// - Parameters:
    ///   - match: glob patterns; `*` matches `/` too.
    ///   - tick: the time between ticks; zero for none, nil for 1 s.
    ///   - since: the newest revision that the client has seen.
    ///   - heartbeat: how long without an event until a heartbeat is sent.
    ///   - keys: keys without wildcards.
    public init(
        match: [String]? = nil,
        tick: Duration? = nil,
        since: Int64? = nil,
        heartbeat: Duration? = nil,
        keys: [String]? = nil
    ) {
        self.match = match
        self.tickUSec = tick?.microseconds
        self.since = since
        self.heartbeatUSec = heartbeat?.microseconds
        self.keys = keys
    }

    /// Writes the parameters; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("tickUSec", tickUSec)
        writer.memberIfPresent("since", since)
        writer.memberIfPresent("heartbeatUSec", heartbeatUSec)
        writer.memberIfPresent("keys", keys)
    }

    /// Reads the parameters.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid.
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
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The events, in the order in which they happened.
        package var events: [Event]

        package init(events: [Event]) {
            self.events = events
        }

        package func encode(into writer: inout JSONWriter) {
            writer.member("events", events)
        }

        /// Events of an unknown type, which a newer daemon may add, are skipped; any other event that is invalid makes the
        /// reply invalid.
        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var events = JSONMember<[KnownEvent]>("events")
            reader.knownMembers { events.read(&$0) }
            self.events = try events.required.compactMap(\.event)
        }
    }
}
