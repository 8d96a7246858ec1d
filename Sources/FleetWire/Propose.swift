public import Varlink

/// Makes changes, in order, and answers each on its own.
public struct Propose: BackendMethod {
    /// The method's name on the wire, without the interface.
    public static let name = "Propose"

    /// The part of the namespace: 0.
    public var shard: Int64
    /// At most ``BackendInterface/proposalsLimit`` proposals. Proposals of one key can build on each other.
    public var proposals: [Proposal]

    /// A call with proposals.
    public init(shard: Int64 = 0, proposals: [Proposal]) {
        self.shard = shard
        self.proposals = proposals
    }

    /// Writes the parameters.
    public func encode(into writer: inout JSONWriter) {
        writer.member("shard", shard)
        writer.member("proposals", proposals)
    }

    /// Reads the parameters.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var shard = JSONMember<Int64>("shard")
        var proposals = JSONMember<[Proposal]>("proposals")
        try reader.members { shard.read(&$0) || proposals.read(&$0) }
        self.shard = try shard.required
        self.proposals = try proposals.required
        guard self.proposals.count <= BackendInterface.proposalsLimit else { throw InvalidParameter("proposals") }
    }

    /// An answer to each proposal.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The answers, in the order of the proposals.
        public var answers: [Answer]
        /// The engine's clock; nil if the engine was never reached.
        public var clock: EngineOffset?

        /// A reply with answers.
        public init(answers: [Answer], clock: EngineOffset? = nil) {
            self.answers = answers
            self.clock = clock
        }

        /// Writes the members of the reply.
        public func encode(into writer: inout JSONWriter) {
            writer.member("answers", answers)
            writer.memberIfPresent("clock", clock)
        }

        /// Reads the reply and skips members that a newer bridge may have added. The caller compares the number of answers
        /// with the number of its proposals.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var answers = JSONMember<[Answer]>("answers")
            var clock = JSONMember<EngineOffset>("clock")
            reader.knownMembers { answers.read(&$0) || clock.read(&$0) }
            self.answers = try answers.required
            self.clock = try clock.optional
        }
    }
}

// MARK: - Proposals

extension Propose {
    /// A change of a key, or the question whether a key still has its record. Instants are microseconds of the engine's clock.
    public struct Proposal: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The key of the countdown: 1 to 255 bytes without control characters.
        public var key: String
        /// The ID of the record that the daemon decided on; nil if the key had none.
        public var expected: String?
        /// The first instant at which the engine accepts the proposal.
        public var notBeforeUSec: Int64
        /// The last instant at which the engine accepts the proposal.
        public var notAfterUSec: Int64
        /// When the engine may remove the record; nil if it stays until its next change.
        public var dueUSec: Int64?
        /// The ID of this change: 1 to 255 printable ASCII characters without spaces.
        public var id: String
        /// The new record; nil if the proposal only confirms that the key has the expected record.
        public var record: RecordText?

        /// A change; without a record a confirmation.
        public init(
            key: String,
            expected: String?,
            notBeforeUSec: Int64,
            notAfterUSec: Int64,
            dueUSec: Int64?,
            id: String,
            record: RecordText?
        ) {
            self.key = key
            self.expected = expected
            self.notBeforeUSec = notBeforeUSec
            self.notAfterUSec = notAfterUSec
            self.dueUSec = dueUSec
            self.id = id
            self.record = record
        }

        /// Writes the members; those that are nil are left out, and `expected` is empty then.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("expected", expected ?? "")
            writer.member("notBeforeUSec", notBeforeUSec)
            writer.member("notAfterUSec", notAfterUSec)
            writer.memberIfPresent("dueUSec", dueUSec)
            writer.member("id", id)
            writer.memberIfPresent("record", record)
        }

        /// Reads the members.
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
            let expectedID = try expected.required
            self.key = try key.required
            self.expected = expectedID.isEmpty ? nil : expectedID
            self.notBeforeUSec = try notBeforeUSec.required
            self.notAfterUSec = try notAfterUSec.required
            self.dueUSec = try dueUSec.optional
            self.id = try id.required
            self.record = try record.optional
            guard BackendInterface.isKey(self.key) else { throw InvalidParameter("key") }
            guard self.expected.map(Self.isID) ?? true else { throw InvalidParameter("expected") }
            guard Self.isID(self.id) else { throw InvalidParameter("id") }
            guard self.record?.isObject ?? true else { throw InvalidParameter("record") }
        }

        private static func isID(_ text: String) -> Bool {
            (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        }
    }
}

// MARK: - Answers

extension Propose {
    /// The outcome of a proposal.
    public enum Answer: Sendable, Hashable {
        /// It was made, now or earlier under the same ID, or the confirmation holds. The version of the record; nil if the
        /// key has none.
        case won(version: Int64?)
        /// It was made, and fewer replicas than demanded have acknowledged it in time.
        case unacknowledged(version: Int64?)
        /// The key has another record, of the change with this version and this ID.
        case conflict(version: Int64, id: String, record: RecordText)
        /// The key has no record: a conflict on the wire.
        case noRecord
        /// Its window is not open yet.
        case early
        /// Its window has closed.
        case late
        /// It may have been made; the reason is a sentence.
        case unknown(reason: String)
        /// It was certainly not made; the reason is a sentence.
        case unreachable(reason: String)
    }

    /// The name of an answer on the wire.
    public enum Outcome: String, Sendable, CaseIterable, JSONReadable, JSONWritable {
        case won
        case unacknowledged
        case conflict
        case early
        case late
        case unknown
        case unreachable
    }
}

extension Propose.Answer: JSONEncodable, JSONDecodable {
    /// The name on the wire.
    public var outcome: Propose.Outcome {
        switch self {
        case .won: .won
        case .unacknowledged: .unacknowledged
        case .conflict, .noRecord: .conflict
        case .early: .early
        case .late: .late
        case .unknown: .unknown
        case .unreachable: .unreachable
        }
    }

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) {
        writer.member("outcome", outcome)
        switch self {
        case .won(let version), .unacknowledged(let version): writer.memberIfPresent("version", version)
        case .conflict(let version, let id, let record):
            writer.member("version", version)
            writer.member("id", id)
            writer.member("record", record)
        case .noRecord, .early, .late: break
        case .unknown(let reason), .unreachable(let reason): writer.member("reason", reason)
        }
    }

    /// Reads the members that belong to the outcome, and skips others.
    ///
    /// - Throws: the name of the member that is missing or invalid. A conflict has a version, an ID and a record, or none.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var outcome = JSONMember<Propose.Outcome>("outcome")
        var version = JSONMember<Int64>("version")
        var id = JSONMember<String>("id")
        var record = JSONMember<RecordText>("record")
        var reason = JSONMember<String>("reason")
        reader.knownMembers {
            outcome.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) || reason.read(&$0)
        }
        if let version = try version.optional, version < 0 { throw InvalidParameter("version") }
        switch try outcome.required {
        case .won: self = .won(version: try version.optional)
        case .unacknowledged: self = .unacknowledged(version: try version.optional)
        case .conflict:
            if case (nil, nil, nil) = (try version.optional, try id.optional, try record.optional) {
                self = .noRecord
            } else {
                self = .conflict(version: try version.required, id: try id.required, record: try record.required)
            }
        case .early: self = .early
        case .late: self = .late
        case .unknown: self = .unknown(reason: try reason.required)
        case .unreachable: self = .unreachable(reason: try reason.required)
        }
    }
}
