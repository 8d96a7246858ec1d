public import Varlink

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
