// Made by varlink-generate from io.countdownd.Backend.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `io.countdownd.Backend`.
///
/// The countdowns of a fleet, as a daemon of the fleet sees the engine that holds them. A bridge serves this interface:
/// it has the network and the credentials, and keeps no state.
///
/// A namespace is a map from keys to records with a log of its changes; its only shard is 0. Every change has a
/// version; versions grow by one. A record belongs to the daemons: the bridge stores its text, which is a JSON object,
/// and never reads it. Instants are microseconds since 1970-01-01T00:00:00Z of the engine's clock, and stay below 2^53.
public enum BackendInterface {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "io.countdownd.Backend"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [Propose.self, Follow.self, Describe.self]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = String(decoding: PackageResources.io_countdownd_Backend_varlink, as: UTF8.self)
}

extension Propose {
    /// A change of a key, or the question whether a key still has its record.
    public struct Proposal: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// 1 to 255 bytes without control characters.
        public var key: String
        /// The id of the record that the daemon decided on; empty if the key had none.
        public var expected: String
        /// The engine accepts the proposal in this window only, both ends included.
        public var notBeforeUSec: Int64
        /// The engine accepts the proposal in this window only, both ends included.
        public var notAfterUSec: Int64
        /// From then on the engine may remove the record; absent if it stays until its next change.
        public var dueUSec: Int64?
        /// Of this change, made by the daemon and used once; no whitespace. A proposal that is sent again under its id
        /// is made once.
        public var id: String
        /// A JSON object of at most 64 KiB without line ends; absent if the proposal only confirms that the key still
        /// has the expected record.
        public var record: RecordText?

        /// The value with these members.
        public init(
            key: String,
            expected: String,
            notBeforeUSec: Int64,
            notAfterUSec: Int64,
            dueUSec: Int64? = nil,
            id: String,
            record: RecordText? = nil
        ) {
            self.key = key
            self.expected = expected
            self.notBeforeUSec = notBeforeUSec
            self.notAfterUSec = notAfterUSec
            self.dueUSec = dueUSec
            self.id = id
            self.record = record
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("expected", expected)
            writer.member("notBeforeUSec", notBeforeUSec)
            writer.member("notAfterUSec", notAfterUSec)
            writer.memberIfPresent("dueUSec", dueUSec)
            writer.member("id", id)
            writer.memberIfPresent("record", record)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var key = JSONMember<String>("key")
            var expected = JSONMember<String>("expected")
            var notBeforeUSec = JSONMember<Int64>("notBeforeUSec")
            var notAfterUSec = JSONMember<Int64>("notAfterUSec")
            var dueUSec = JSONMember<Int64>("dueUSec")
            var id = JSONMember<String>("id")
            var record = JSONMember<RecordText>("record")
            try reader.members {
                key.read(&$0) || expected.read(&$0) || notBeforeUSec.read(&$0) || notAfterUSec.read(&$0)
                    || dueUSec.read(&$0) || id.read(&$0) || record.read(&$0)
            }
            self.key = try key.required
            self.expected = try expected.required
            self.notBeforeUSec = try notBeforeUSec.required
            self.notAfterUSec = try notAfterUSec.required
            self.dueUSec = try dueUSec.optional
            self.id = try id.required
            self.record = try record.optional
            try check()
        }
    }
}

extension Propose {
    /// The outcome of a proposal.
    public enum Outcome: WireEnumeration {
        /// It was made, now or earlier under the same id, or the confirmation holds. version: of the record; absent if
        /// the key has none.
        case won
        /// It was made, and fewer replicas than demanded have acknowledged it in time. version as with won.
        case unacknowledged
        /// The key has another record: version, id and record, or none of them if the key has no record.
        case conflict
        /// It is outside its window.
        case early
        /// It is outside its window.
        case late
        /// It may have been made; reason is a sentence.
        case unknown
        /// It was certainly not made; reason is a sentence.
        case unreachable

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .won: "won"
            case .unacknowledged: "unacknowledged"
            case .conflict: "conflict"
            case .early: "early"
            case .late: "late"
            case .unknown: "unknown"
            case .unreachable: "unreachable"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "won": self = .won
            case "unacknowledged": self = .unacknowledged
            case "conflict": self = .conflict
            case "early": self = .early
            case "late": self = .late
            case "unknown": self = .unknown
            case "unreachable": self = .unreachable
            default: return nil
            }
        }
    }
}

extension Propose {
    public struct AnswerMembers: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var outcome: Propose.Outcome
        public var version: Int64?
        public var id: String?
        public var record: RecordText?
        public var reason: String?

        /// The value with these members.
        public init(
            outcome: Propose.Outcome,
            version: Int64? = nil,
            id: String? = nil,
            record: RecordText? = nil,
            reason: String? = nil
        ) {
            self.outcome = outcome
            self.version = version
            self.id = id
            self.record = record
            self.reason = reason
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("outcome", outcome)
            writer.memberIfPresent("version", version)
            writer.memberIfPresent("id", id)
            writer.memberIfPresent("record", record)
            writer.memberIfPresent("reason", reason)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var outcome = JSONMember<Propose.Outcome>("outcome")
            var version = JSONMember<Int64>("version")
            var id = JSONMember<String>("id")
            var record = JSONMember<RecordText>("record")
            var reason = JSONMember<String>("reason")
            reader.knownMembers {
                outcome.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) || reason.read(&$0)
            }
            self.outcome = try outcome.required
            self.version = try version.optional
            self.id = try id.optional
            self.record = try record.optional
            self.reason = try reason.optional
        }
    }
}

extension Follow {
    /// A record as a change left it. The key is as in a proposal: a bridge leaves out records that others have put into
    /// the engine under other keys.
    public struct Entry: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var key: String
        public var version: Int64
        public var id: String
        public var record: RecordText?

        /// The value with these members.
        public init(key: String, version: Int64, id: String, record: RecordText? = nil) {
            self.key = key
            self.version = version
            self.id = id
            self.record = record
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("version", version)
            writer.member("id", id)
            writer.memberIfPresent("record", record)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            let key: String
            let id: String
            (key, id, self) = try Self.read(from: &reader)
            self.key = key
            self.id = id
            try check()
        }

        /// Reads the members. `key` and `id` are read as values of other types, and are empty in the result.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        @inlinable
        public static func read<OtherKey: JSONReadable, OtherId: JSONReadable>(
            from reader: inout JSONReader,
            keyAs _: OtherKey.Type = OtherKey.self,
            idAs _: OtherId.Type = OtherId.self
        ) throws(InvalidParameter) -> (OtherKey, OtherId, Self) {
            var key = JSONMember<OtherKey>("key")
            var version = JSONMember<Int64>("version")
            var id = JSONMember<OtherId>("id")
            var record = JSONMember<RecordText>("record")
            reader.knownMembers { key.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) }
            let value = Self(key: "", version: try version.required, id: "", record: try record.optional)
            return (try key.required, try id.required, value)
        }
    }
}

/// The engine's clock is engineLessBootUSec ahead of CLOCK_BOOTTIME of this machine, and at most errorUSec off that.
public struct EngineOffset: Sendable, Hashable, JSONEncodable, JSONDecodable {
    public var engineLessBootUSec: Int64
    public var errorUSec: Int64

    /// The value with these members.
    public init(engineLessBootUSec: Int64, errorUSec: Int64) {
        self.engineLessBootUSec = engineLessBootUSec
        self.errorUSec = errorUSec
    }

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {
        writer.member("engineLessBootUSec", engineLessBootUSec)
        writer.member("errorUSec", errorUSec)
    }

    /// Reads the members. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var engineLessBootUSec = JSONMember<Int64>("engineLessBootUSec")
        var errorUSec = JSONMember<Int64>("errorUSec")
        reader.knownMembers { engineLessBootUSec.read(&$0) || errorUSec.read(&$0) }
        self.engineLessBootUSec = try engineLessBootUSec.required
        self.errorUSec = try errorUSec.required
        try check()
    }
}

extension Follow {
    /// The states of a follower.
    public enum State: WireEnumeration {
        /// The log continues the given version. changes follow, then live.
        case resumed
        /// The log begins after the given version. A snapshot follows.
        case trimmed
        /// The log does not contain the given change: acknowledged changes were lost, or the engine is another one or
        /// came back empty. A snapshot follows, and it replaces every record.
        case diverged
        /// A part of a snapshot: the present records in no order, some of them twice or changed after version. The
        /// first page after trimmed, diverged, lost or the call begins the snapshot, and the first reply with changes
        /// or live ends it. A record that is in no page is not held.
        case page
        /// Every change after the last version, in order. Changes of the host of the call may be missing, if the reply
        /// to their Propose has left before.
        case changes
        /// All changes up to version were sent; from now on changes are sent as they are made.
        case live
        /// The engine cannot be reached, and reason is the reason; again if the reason is another one. The call
        /// continues: resumed, trimmed, diverged or page follows later.
        case lost
        /// Only the clock, and reason if the engine makes no changes at present.
        case clock

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .resumed: "resumed"
            case .trimmed: "trimmed"
            case .diverged: "diverged"
            case .page: "page"
            case .changes: "changes"
            case .live: "live"
            case .lost: "lost"
            case .clock: "clock"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "resumed": self = .resumed
            case "trimmed": self = .trimmed
            case "diverged": self = .diverged
            case "page": self = .page
            case "changes": self = .changes
            case "live": self = .live
            case "lost": self = .lost
            case "clock": self = .clock
            default: return nil
            }
        }
    }
}

/// Makes up to 64 changes, in order. Each is answered on its own, so changes of one key can build on each other. clock
/// is absent if the engine was never reached.
public struct Propose: Method {
    /// The name of the interface.
    public static var interface: String { BackendInterface.name }
    /// The name within the interface.
    public static let name = "Propose"

    public var shard: Int64
    public var proposals: [Propose.Proposal]

    /// The value with these members.
    public init(shard: Int64 = 0, proposals: [Propose.Proposal]) {
        self.shard = shard
        self.proposals = proposals
    }

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {
        writer.member("shard", shard)
        writer.member("proposals", proposals)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var proposals = JSONMember<[Propose.Proposal]>("proposals")
        try reader.members { shard.read(&$0) || proposals.read(&$0) }
        self.shard = try shard.required
        self.proposals = try proposals.required
        try check()
    }
}

extension Propose {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var answers: [Propose.Answer]
        public var clock: EngineOffset?

        /// The value with these members.
        public init(answers: [Propose.Answer], clock: EngineOffset? = nil) {
            self.answers = answers
            self.clock = clock
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("answers", answers)
            writer.memberIfPresent("clock", clock)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var answers = JSONMember<[Propose.Answer]>("answers")
            var clock = JSONMember<EngineOffset>("clock")
            reader.knownMembers { answers.read(&$0) || clock.read(&$0) }
            self.answers = try answers.required
            self.clock = try clock.optional
        }
    }
}

/// Follows the log; the call must have more, and ends when the client disconnects. With after and id, the version and
/// the id of the last change that the client has, it resumes there; without after it begins with a snapshot.
///
/// host: the beginning of the ids of the client's own proposals. It has their records, so a change of its own that a
/// reply to Propose has called won need not be sent to it again. Without host all changes are sent. A client that does
/// not read gets no changes until it has read; then it gets them from the log, or a snapshot if the log was trimmed.
public struct Follow: Method {
    /// The name of the interface.
    public static var interface: String { BackendInterface.name }
    /// The name within the interface.
    public static let name = "Follow"

    public var shard: Int64
    public var afterVersion: Int64?
    public var afterID: String?
    public var host: String?

    /// The value with these members.
    public init(shard: Int64, afterVersion: Int64?, afterID: String?, host: String?) {
        self.shard = shard
        self.afterVersion = afterVersion
        self.afterID = afterID
        self.host = host
    }

    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("shard", shard)
        writer.memberIfPresent("after", afterVersion)
        writer.memberIfPresent("id", afterID)
        writer.memberIfPresent("host", host)
    }

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var afterVersion = JSONMember<Int64>("after")
        var afterID = JSONMember<String>("id")
        var host = JSONMember<String>("host")
        try reader.members { shard.read(&$0) || afterVersion.read(&$0) || afterID.read(&$0) || host.read(&$0) }
        self.shard = try shard.required
        self.afterVersion = try afterVersion.optional
        self.afterID = try afterID.optional
        self.host = try host.optional
        try check()
    }
}

extension Follow {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var state: Follow.State
        public var entries: [Follow.Entry]
        /// With page the last change before the snapshot, with changes and live the last change that was sent. A log
        /// that never had a change has a version too, which begins its log; then id is absent.
        public var version: Int64?
        /// With page the last change before the snapshot, with changes and live the last change that was sent. A log
        /// that never had a change has a version too, which begins its log; then id is absent.
        public var id: String?
        /// In the first reply after the engine was reached, and whenever its offset has moved by more than 1 ms.
        public var clock: EngineOffset?
        /// With lost, trimmed and diverged, a sentence for people; with clock, why changes are refused. It is sent when
        /// that begins, changes or ends.
        public var reason: String?

        /// The value with these members.
        public init(
            state: Follow.State,
            entries: [Follow.Entry],
            version: Int64?,
            id: String?,
            clock: EngineOffset?,
            reason: String?
        ) {
            self.state = state
            self.entries = entries
            self.version = version
            self.id = id
            self.clock = clock
            self.reason = reason
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("state", state)
            writer.member("entries", entries)
            writer.memberIfPresent("version", version)
            writer.memberIfPresent("id", id)
            writer.memberIfPresent("clock", clock)
            writer.memberIfPresent("reason", reason)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            let entries: [Follow.Entry]
            (entries, self) = try Self.read(from: &reader)
            self.entries = entries
            try check()
        }

        /// Reads the members. `entries` is read as a value of another type, and is empty in the result.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        @inlinable
        public static func read<OtherEntries: JSONReadable>(
            from reader: inout JSONReader,
            entriesAs _: OtherEntries.Type = OtherEntries.self
        ) throws(InvalidParameter) -> (OtherEntries, Self) {
            var state = JSONMember<Follow.State>("state")
            var entries = JSONMember<OtherEntries>("entries")
            var version = JSONMember<Int64>("version")
            var id = JSONMember<String>("id")
            var clock = JSONMember<EngineOffset>("clock")
            var reason = JSONMember<String>("reason")
            reader.knownMembers {
                state.read(&$0) || entries.read(&$0) || version.read(&$0) || id.read(&$0) || clock.read(&$0)
                    || reason.read(&$0)
            }
            let value = Self(
                state: try state.required,
                entries: [],
                version: try version.optional,
                id: try id.optional,
                clock: try clock.optional,
                reason: try reason.optional
            )
            return (try entries.required, value)
        }
    }
}

/// The engine and the namespace.
public struct Describe: Method {
    /// The name of the interface.
    public static var interface: String { BackendInterface.name }
    /// The name within the interface.
    public static let name = "Describe"

    /// The value.
    public init() {}

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {}

    /// Reads the members. Refuses unknown ones.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        try reader.members { _ in false }
    }
}

extension Describe {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Its name and version, such as Redis 7.0.15.
        public var engine: String
        public var namespace: String
        public var shards: Int64
        /// For so long a record stays after its end.
        public var retentionUSec: Int64
        /// A countdown is not changed in this time before its deadline.
        public var marginUSec: Int64
        /// The greatest number of countdowns in the namespace.
        public var countdowns: Int64
        /// The number of replicas that acknowledge a change.
        public var acknowledgements: Int64
        /// Of the bridge.
        public var version: String

        /// The value with these members.
        public init(
            engine: String,
            namespace: String,
            shards: Int64,
            retentionUSec: Int64,
            marginUSec: Int64,
            countdowns: Int64,
            acknowledgements: Int64,
            version: String
        ) {
            self.engine = engine
            self.namespace = namespace
            self.shards = shards
            self.retentionUSec = retentionUSec
            self.marginUSec = marginUSec
            self.countdowns = countdowns
            self.acknowledgements = acknowledgements
            self.version = version
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("engine", engine)
            writer.member("namespace", namespace)
            writer.member("shards", shards)
            writer.member("retentionUSec", retentionUSec)
            writer.member("marginUSec", marginUSec)
            writer.member("countdowns", countdowns)
            writer.member("acknowledgements", acknowledgements)
            writer.member("version", version)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var engine = JSONMember<String>("engine")
            var namespace = JSONMember<String>("namespace")
            var shards = JSONMember<Int64>("shards")
            var retentionUSec = JSONMember<Int64>("retentionUSec")
            var marginUSec = JSONMember<Int64>("marginUSec")
            var countdowns = JSONMember<Int64>("countdowns")
            var acknowledgements = JSONMember<Int64>("acknowledgements")
            var version = JSONMember<String>("version")
            reader.knownMembers {
                engine.read(&$0) || namespace.read(&$0) || shards.read(&$0) || retentionUSec.read(&$0)
                    || marginUSec.read(&$0) || countdowns.read(&$0) || acknowledgements.read(&$0) || version.read(&$0)
            }
            self.engine = try engine.required
            self.namespace = try namespace.required
            self.shards = try shards.required
            self.retentionUSec = try retentionUSec.required
            self.marginUSec = try marginUSec.required
            self.countdowns = try countdowns.required
            self.acknowledgements = try acknowledgements.required
            self.version = try version.required
            try check()
        }
    }
}

/// An error of the interface `io.countdownd.Backend`.
public enum BackendError: InterfaceError {
    /// The engine cannot be reached, or cannot be used as it is; reason is a sentence.
    case unreachable(reason: String)

    /// The names of the errors on the wire, in the order of the definition.
    public enum WireName: String, Sendable, CaseIterable {
        case unreachable = "io.countdownd.Backend.Unreachable"
    }

    /// The name of the error.
    public var name: WireName {
        switch self {
        case .unreachable: .unreachable
        }
    }

    /// Writes the parameters of the error; those that are nil are left out.
    public func encodeParameters(into writer: inout JSONWriter) {
        switch self {
        case .unreachable(let reason):
            writer.member("reason", reason)
        }
    }

    /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
        switch name {
        case .unreachable: self = .unreachable(reason: try reader.member("reason"))
        }
        reader.skipMembers()
    }
}
