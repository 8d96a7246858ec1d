public import Varlink

extension GetStatus {
    /// How long something took since the daemon's start.
    public struct Durations: Sendable, Hashable {
        /// How often it was measured.
        public var count: Int64
        package var sumUSec: Int64
        package var p50USec: Int64
        package var p99USec: Int64
        package var greatestUSec: Int64
        /// How many durations were at most this many microseconds long, by that number; nil from a daemon that does not count
        /// it.
        package var atMost: [String: Int64]?

        /// The sum of all durations.
        public var sum: Duration { .microseconds(sumUSec) }
        /// Half of the durations were at most this long. At most a sixteenth too great, and exact below 16 microseconds.
        public var p50: Duration { .microseconds(p50USec) }
        /// 99 % of the durations were at most this long. At most a sixteenth too great, and exact below 16 microseconds.
        public var p99: Duration { .microseconds(p99USec) }
        /// The greatest duration.
        public var greatest: Duration { .microseconds(greatestUSec) }

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
    }

    /// How a member of a fleet follows its countdowns.
    public enum ShardState: Sendable, CaseIterable {
        /// The daemon has just started, and has not reached the engine yet.
        case connecting
        /// Every countdown of the fleet is read.
        case snapshot
        /// The daemon hears of every change.
        case live
        /// The engine cannot be reached.
        case lost
    }

    /// A part of the fleet's countdowns.
    public struct Shard: Sendable, Hashable {
        /// How it is followed.
        public var state: ShardState
        package var sinceUSec: Int64
        package var lagUSec: Int64
        /// Why it is connecting or lost, as a sentence.
        public var reason: String?

        /// Since when it is in its state.
        public var since: Countdown.Instant { Countdown.Instant(microseconds: sinceUSec) }
        /// For how long changes of other machines may have been missing here.
        public var lag: Duration { .microseconds(lagUSec) }

        package init(state: ShardState, sinceUSec: Int64, lagUSec: Int64, reason: String? = nil) {
            self.state = state
            self.sinceUSec = sinceUSec
            self.lagUSec = lagUSec
            self.reason = reason
        }
    }

    /// The engine that a fleet shares, as a member knows it.
    public struct Fleet: Sendable, Hashable {
        /// The engine's name and version; nil before it was reached.
        public var engine: String?
        /// The name of the fleet; nil before the engine was reached.
        public var namespace: String?
        /// The parts of its countdowns.
        public var shards: [Shard]
        package var clockAheadUSec: Int64?
        package var clockErrorUSec: Int64?
        /// How long the engine took to answer, with the way there and back.
        public var roundTrip: Durations

        /// How far the engine's clock is ahead of the system clock; nil before the engine was reached.
        public var clockAhead: Duration? { clockAheadUSec.map(Duration.microseconds) }
        /// How far off that may be; nil before the engine was reached.
        public var clockError: Duration? { clockErrorUSec.map(Duration.microseconds) }

        package init(
            engine: String?,
            namespace: String?,
            shards: [Shard],
            clockAheadUSec: Int64?,
            clockErrorUSec: Int64?,
            roundTrip: Durations
        ) {
            self.engine = engine
            self.namespace = namespace
            self.shards = shards
            self.clockAheadUSec = clockAheadUSec
            self.clockErrorUSec = clockErrorUSec
            self.roundTrip = roundTrip
        }
    }
}

extension GetStatus.ShardState: WireEnumeration {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .connecting: "connecting"
        case .snapshot: "snapshot"
        case .live: "live"
        case .lost: "lost"
        }
    }
}

extension GetStatus.Durations: JSONEncodable, JSONDecodable {
    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {
        writer.member("count", count)
        writer.member("sumUSec", sumUSec)
        writer.member("p50USec", p50USec)
        writer.member("p99USec", p99USec)
        writer.member("greatestUSec", greatestUSec)
        writer.memberIfPresent("atMost", atMost)
    }

    /// Reads the members and skips those that a newer daemon may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        count = try reader.member("count")
        sumUSec = try reader.member("sumUSec")
        p50USec = try reader.member("p50USec")
        p99USec = try reader.member("p99USec")
        greatestUSec = try reader.member("greatestUSec")
        atMost = try reader.memberIfPresent("atMost")
        reader.skipMembers()
    }
}

extension GetStatus.Shard: JSONEncodable, JSONDecodable {
    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("sinceUSec", sinceUSec)
        writer.member("lagUSec", lagUSec)
        writer.memberIfPresent("reason", reason)
    }

    /// Reads the members and skips those that a newer daemon may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        state = try reader.member("state")
        sinceUSec = try reader.member("sinceUSec")
        lagUSec = try reader.member("lagUSec")
        reason = try reader.memberIfPresent("reason")
        reader.skipMembers()
    }
}

extension GetStatus.Fleet: JSONEncodable, JSONDecodable {
    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("engine", engine)
        writer.memberIfPresent("namespace", namespace)
        writer.member("shards", shards)
        writer.memberIfPresent("clockAheadUSec", clockAheadUSec)
        writer.memberIfPresent("clockErrorUSec", clockErrorUSec)
        writer.member("roundTrip", roundTrip)
    }

    /// Reads the members and skips those that a newer daemon may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        engine = try reader.memberIfPresent("engine")
        namespace = try reader.memberIfPresent("namespace")
        shards = try reader.member("shards")
        clockAheadUSec = try reader.memberIfPresent("clockAheadUSec")
        clockErrorUSec = try reader.memberIfPresent("clockErrorUSec")
        roundTrip = try reader.member("roundTrip")
        reader.skipMembers()
    }
}
