public import Varlink

/// The call of ``AsyncClient/status()``.
public struct GetStatus: Method {
    package static let name = "GetStatus"

    package init() {}

    /// Writes nothing, because there are no parameters.
    public func encode(into writer: inout JSONWriter) {}

    /// Reads the parameters.
    ///
    /// - Throws: the name of the first parameter: the method has none.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        try reader.members { _ in false }
    }

    /// The status of the daemon.
    public struct Reply: Sendable, Hashable {
        /// The version of the daemon.
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
        /// The revision of the last change.
        public var revision: Int64
        /// The oldest revision that `Watch` accepts as `since`.
        public var oldestRevision: Int64
        /// The limits that `LimitReached` can name, with their maximums. ``durationLimits`` has those that are durations.
        public var limits: [String: Int64]
        /// The counters since the daemon's start.
        public var counters: [String: Int64]
        /// The number of calls of `Start` that wait for their turn; nil from a daemon without a queue.
        public var queuedStarts: Int64?
        /// The engine that the daemon shares with a fleet; nil if its countdowns are its own.
        public var fleet: Fleet?
        /// How late countdowns ended whose deadline came while the daemon ran; nil from a daemon that does not measure it.
        public var lateness: Durations?
        /// How much waits now, by name; nil from a daemon that does not count it.
        public var queues: [String: Int64]?
        /// Why changes cannot be stored; nil if they can.
        public var storageFailure: String?

        /// The limits that are durations, such as `historyAge`.
        public var durationLimits: [String: Duration] {
            let durations = limits.filter { $0.key.hasSuffix("USec") }
            let named = durations.map { (String($0.key.dropLast(4)), Duration.microseconds($0.value)) }
            return Dictionary(uniqueKeysWithValues: named)
        }

        /// When the daemon started.
        public var started: Countdown.Instant { Countdown.Instant(microseconds: startedUSec) }

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
            fleet: Fleet? = nil,
            lateness: Durations? = nil,
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
    }
}

extension GetStatus.Reply: JSONEncodable, JSONDecodable {
    /// Writes the members of the reply.
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

    /// Reads the reply and skips members that a newer daemon may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        version = try reader.member("version")
        startedUSec = try reader.member("startedUSec")
        running = try reader.member("running")
        paused = try reader.member("paused")
        watchers = try reader.member("watchers")
        connections = try reader.member("connections")
        revision = try reader.member("revision")
        oldestRevision = try reader.member("oldestRevision")
        limits = try reader.member("limits")
        counters = try reader.member("counters")
        queuedStarts = try reader.memberIfPresent("queuedStarts")
        fleet = try reader.memberIfPresent("fleet")
        lateness = try reader.memberIfPresent("lateness")
        queues = try reader.memberIfPresent("queues")
        storageFailure = try reader.memberIfPresent("storageFailure")
        reader.skipMembers()
    }
}
