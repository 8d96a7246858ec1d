import Backend
import Varlink

/// A change of a key, or the question whether a key still has its record.
struct Proposal: JSONDecodable, Sendable {
    var key: String
    var expected: String
    var notBefore: Int64
    var notAfter: Int64
    var due: Int64?
    var id: String
    /// Nil if the proposal only confirms that the key has the expected record.
    var record: String?

    init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var expected = JSONMember<String>("expected")
        var notBefore = JSONMember<Int64>("notBeforeUSec")
        var notAfter = JSONMember<Int64>("notAfterUSec")
        var due = JSONMember<Int64>("dueUSec")
        var id = JSONMember<String>("id")
        var record = JSONMember<String>("record")
        try reader.members {
            key.read(&$0) || expected.read(&$0) || notBefore.read(&$0) || notAfter.read(&$0) || due.read(&$0)
                || id.read(&$0) || record.read(&$0)
        }
        self.key = try key.required
        self.expected = try expected.required
        self.notBefore = try notBefore.required
        self.notAfter = try notAfter.required
        self.due = try due.optional
        self.id = try id.required
        self.record = try record.optional
        guard Self.isKey(self.key) else { throw InvalidParameter("key") }
        guard self.expected.isEmpty || Self.isID(self.expected) else { throw InvalidParameter("expected") }
        guard Self.isID(self.id) else { throw InvalidParameter("id") }
        guard self.record.map(Self.isRecord) ?? true else { throw InvalidParameter("record") }
    }

    /// Changes are published in lines, so no part of one has a line end.
    private static func isKey(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    private static func isID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    private static func isRecord(_ text: String) -> Bool {
        guard text.utf8.count <= BackendInterface.recordLimit, text.utf8.allSatisfy({ $0 >= 0x20 }) else {
            return false
        }
        return JSONReader.read(copying: text.utf8) { reader in
            guard reader.beginText() else { return false }
            reader.knownMembers { _ in false }
            return reader.finish() == nil
        }
    }
}

/// The parameters of `Propose`.
struct ProposeRequest: JSONDecodable {
    var shard: Int64
    var proposals: [Proposal]

    init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var proposals = JSONMember<[Proposal]>("proposals")
        try reader.members { shard.read(&$0) || proposals.read(&$0) }
        self.shard = try shard.required
        self.proposals = try proposals.required
        guard self.proposals.count <= BackendInterface.proposalsLimit else { throw InvalidParameter("proposals") }
    }
}

/// The parameters of `Follow`.
struct FollowRequest: JSONDecodable {
    var shard: Int64
    var after: Int64?
    var id: String?

    init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var after = JSONMember<Int64>("after")
        var id = JSONMember<String>("id")
        try reader.members { shard.read(&$0) || after.read(&$0) || id.read(&$0) }
        self.shard = try shard.required
        self.after = try after.optional
        self.id = try id.optional
        guard self.after.map({ $0 >= 0 }) ?? true else { throw InvalidParameter("after") }
    }
}

/// A record as the engine holds it: `VERSION ID {json}`.
struct Record: Equatable, Sendable {
    var version: Int64
    var id: String
    var json: String

    /// Nil if the text is not a record.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let version = Int64(parts[0]), version >= 0, !parts[1].isEmpty else { return nil }
        self.version = version
        id = String(parts[1])
        json = String(parts[2])
    }

    /// A text that is not a record, under the version 0.
    init(unreadable text: String) {
        version = 0
        id = "?"
        json = text
    }
}

/// A record under its key.
struct Entry: JSONEncodable, Equatable, Sendable {
    var key: String
    var record: Record

    func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.member("version", record.version)
        writer.member("id", record.id)
        writer.member("record", record.json)
    }
}

/// What became of a proposal.
enum Answer: JSONEncodable, Equatable, Sendable {
    case won(version: Int64?)
    case unacknowledged(version: Int64?)
    case conflict(Record?)
    case early
    case late
    /// It may have been made.
    case unknown(reason: String)
    /// It was certainly not made.
    case unreachable(reason: String)

    func encode(into writer: inout JSONWriter) {
        switch self {
        case .won(let version):
            writer.member("outcome", "won")
            writer.memberIfPresent("version", version)
        case .unacknowledged(let version):
            writer.member("outcome", "unacknowledged")
            writer.memberIfPresent("version", version)
        case .conflict(let record):
            writer.member("outcome", "conflict")
            writer.memberIfPresent("version", record?.version)
            writer.memberIfPresent("id", record?.id)
            writer.memberIfPresent("record", record?.json)
        case .early: writer.member("outcome", "early")
        case .late: writer.member("outcome", "late")
        case .unknown(let reason):
            writer.member("outcome", "unknown")
            writer.member("reason", reason)
        case .unreachable(let reason):
            writer.member("outcome", "unreachable")
            writer.member("reason", reason)
        }
    }
}

/// The reply of `Propose`.
struct ProposeReply: JSONEncodable {
    var answers: [Answer]
    var clock: EngineClock.Offset?

    func encode(into writer: inout JSONWriter) {
        writer.member("answers", answers)
        writer.memberIfPresent("clock", clock)
    }
}

/// A reply of `Follow`.
struct FollowReply: JSONEncodable {
    enum State: String, JSONWritable {
        case resumed
        case trimmed
        case diverged
        case page
        case changes
        case live
        case lost
        case clock
    }

    var state: State
    var entries: [Entry] = []
    var last: FollowPosition?
    var clock: EngineClock.Offset?
    var reason: String?

    func encode(into writer: inout JSONWriter) {
        writer.member("state", state)
        writer.member("entries", entries)
        writer.memberIfPresent("version", last?.version)
        writer.memberIfPresent("id", last?.id)
        writer.memberIfPresent("clock", clock)
        writer.memberIfPresent("reason", reason)
    }
}

/// A change in the log of a shard.
struct FollowPosition: Equatable, Sendable {
    var version: Int64
    /// Nil if it is not known.
    var id: String?
}

/// The reply of `Describe`.
struct BackendDescription: JSONEncodable {
    var engine: String
    var settings: NamespaceSettings
    var acknowledgements: Int

    func encode(into writer: inout JSONWriter) {
        writer.member("engine", engine)
        writer.member("namespace", settings.namespace)
        writer.member("shards", settings.shards)
        writer.member("retentionUSec", settings.retention)
        writer.member("marginUSec", settings.margin)
        writer.member("countdowns", settings.countdowns)
        writer.member("acknowledgements", acknowledgements)
        writer.member("version", BridgeVersion.current)
    }
}
