public import Varlink

/// Reports the records of the namespace, and then each change. The call must have `more`.
public struct Follow: BackendMethod {
    /// The method's name on the wire, without the interface.
    public static let name = "Follow"

    /// The part of the namespace to follow: 0.
    public var shard: Int64
    /// The last change that the client has; nil for a snapshot.
    public var after: Position?
    /// The beginning of the IDs of the client's own proposals; nil if it wants to hear of those, too.
    public var host: String?

    /// A call that resumes after a change, or begins with a snapshot.
    public init(shard: Int64 = 0, after: Position? = nil, host: String? = nil) {
        self.shard = shard
        self.after = after
        self.host = host
    }

    /// Writes the parameters; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("shard", shard)
        writer.memberIfPresent("after", after?.version)
        writer.memberIfPresent("id", after?.id)
        writer.memberIfPresent("host", host)
    }

    /// Reads the parameters.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var after = JSONMember<Int64>("after")
        var id = JSONMember<String>("id")
        var host = JSONMember<String>("host")
        try reader.members { shard.read(&$0) || after.read(&$0) || id.read(&$0) || host.read(&$0) }
        self.shard = try shard.required
        self.after = try Position(version: after.optional, id: id.optional)
        self.host = try host.optional
        guard self.after.map({ $0.version >= 0 }) ?? true else { throw InvalidParameter("after") }
    }

    /// The place of a change in the log.
    public struct Position: Sendable, Hashable {
        /// The version of the change.
        public var version: Int64
        /// The ID of the change; nil if it is not known.
        public var id: String?

        /// The place of a change.
        public init(version: Int64, id: String?) {
            self.version = version
            self.id = id
        }

        @usableFromInline
        init?(version: Int64?, id: String?) {
            guard let version else { return nil }
            self.init(version: version, id: id)
        }
    }

    /// The state of a follower; the definition explains the order.
    public enum State: String, Sendable, CaseIterable, JSONReadable, JSONWritable {
        /// The log continues the given change.
        case resumed
        /// The log begins after the given change. A snapshot follows.
        case trimmed
        /// The log does not have the given change. A snapshot follows, and replaces every record.
        case diverged
        /// A part of a snapshot.
        case page
        /// Every change after the last one, but those that the client itself has won.
        case changes
        /// All changes were sent.
        case live
        /// The engine cannot be reached; the call continues.
        case lost
        /// Only the clock.
        case clock
    }

    /// A record as a change left it.
    public struct Entry: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The key of the countdown.
        public var key: String
        /// The version of the change.
        public var version: Int64
        /// The ID of the change.
        public var id: String
        /// The record; nil if the change has removed it.
        public var record: RecordText?

        /// A record under its key.
        public init(key: String, version: Int64, id: String, record: RecordText?) {
            self.key = key
            self.version = version
            self.id = id
            self.record = record
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("version", version)
            writer.member("id", id)
            writer.memberIfPresent("record", record)
        }

        /// Reads the members. The record may have any text, since only one countdown is affected if it is invalid.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var key = JSONMember<String>("key")
            var version = JSONMember<Int64>("version")
            var id = JSONMember<String>("id")
            var record = JSONMember<RecordText>("record")
            reader.knownMembers { key.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) }
            self.key = try key.required
            self.version = try version.required
            self.id = try id.required
            self.record = try record.optional
            guard self.version >= 0 else { throw InvalidParameter("version") }
        }
    }

    /// A reply, with entries as they are on the wire.
    public typealias Reply = Update<Entry>

    /// A part of a snapshot or of the log, or news of the engine. A client may read the entries as values of its own type.
    public struct Update<Entry: JSONDecodable & Sendable>: Sendable {
        /// The state, which decides the other fields.
        public var state: State
        /// Records of a page, or changes.
        public var entries: [Entry]
        /// The last change before the snapshot, or the last one that was sent; nil if there is none.
        public var last: Position?
        /// The engine's clock, when it was reached or has moved.
        public var clock: EngineOffset?
        /// Why the engine is lost or the log does not continue, as a sentence for people.
        public var reason: String?

        /// A reply with these fields.
        public init(
            state: State,
            entries: [Entry] = [],
            last: Position? = nil,
            clock: EngineOffset? = nil,
            reason: String? = nil
        ) {
            self.state = state
            self.entries = entries
            self.last = last
            self.clock = clock
            self.reason = reason
        }
    }
}

extension Follow.Update: Equatable where Entry: Equatable {}

extension Follow.Update: Hashable where Entry: Hashable {}

extension Follow.Update: JSONWritable, JSONEncodable where Entry: JSONEncodable {
    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("entries", entries)
        writer.memberIfPresent("version", last?.version)
        writer.memberIfPresent("id", last?.id)
        writer.memberIfPresent("clock", clock)
        writer.memberIfPresent("reason", reason)
    }
}

extension Follow.Update: JSONReadable, JSONDecodable {
    /// Reads the reply and skips members that a newer bridge may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @inlinable
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var state = JSONMember<Follow.State>("state")
        var entries = JSONMember<[Entry]>("entries")
        var version = JSONMember<Int64>("version")
        var id = JSONMember<String>("id")
        var clock = JSONMember<EngineOffset>("clock")
        var reason = JSONMember<String>("reason")
        reader.knownMembers {
            state.read(&$0) || entries.read(&$0) || version.read(&$0) || id.read(&$0) || clock.read(&$0)
                || reason.read(&$0)
        }
        self.state = try state.required
        self.entries = try entries.required
        last = try Follow.Position(version: version.optional, id: id.optional)
        self.clock = try clock.optional
        self.reason = try reason.optional
        guard last.map({ $0.version >= 0 }) ?? true else { throw InvalidParameter("version") }
    }
}
