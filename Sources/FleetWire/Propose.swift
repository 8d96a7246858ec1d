public import Varlink

extension Propose {
    func check() throws(InvalidParameter) {
        try InvalidParameter.check("proposals", proposals.count <= BackendInterface.proposalsLimit)
    }
}

extension Propose.Proposal {
    func check() throws(InvalidParameter) {
        try InvalidParameter.check("key", BackendInterface.isKey(key))
        try InvalidParameter.check("expected", expected.isEmpty || Self.isID(expected))
        try InvalidParameter.check("id", Self.isID(id))
        try InvalidParameter.check("record", record?.isObject ?? true)
    }

    private static func isID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}

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
}

extension Propose.Answer: JSONEncodable, JSONDecodable {
    /// The name on the wire.
    public var outcome: Propose.Outcome { members.outcome }

    private var members: Propose.AnswerMembers {
        switch self {
        case .won(let version): Propose.AnswerMembers(outcome: .won, version: version)
        case .unacknowledged(let version): Propose.AnswerMembers(outcome: .unacknowledged, version: version)
        case .conflict(let version, let id, let record):
            Propose.AnswerMembers(outcome: .conflict, version: version, id: id, record: record)
        case .noRecord: Propose.AnswerMembers(outcome: .conflict)
        case .early: Propose.AnswerMembers(outcome: .early)
        case .late: Propose.AnswerMembers(outcome: .late)
        case .unknown(let reason): Propose.AnswerMembers(outcome: .unknown, reason: reason)
        case .unreachable(let reason): Propose.AnswerMembers(outcome: .unreachable, reason: reason)
        }
    }

    /// Writes the members.
    public func encode(into writer: inout JSONWriter) { members.encode(into: &writer) }

    /// Reads the members that belong to the outcome, and skips others.
    ///
    /// - Throws: the name of the member that is missing or invalid. A conflict has a version, an ID and a record, or none.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        let members = try Propose.AnswerMembers(from: &reader)
        try InvalidParameter.check("version", members.version ?? 0 >= 0)
        switch members.outcome {
        case .won: self = .won(version: members.version)
        case .unacknowledged: self = .unacknowledged(version: members.version)
        case .conflict:
            switch (members.version, members.id, members.record) {
            case (nil, nil, nil): self = .noRecord
            case (let version?, let id?, let record?): self = .conflict(version: version, id: id, record: record)
            case (nil, _, _): throw InvalidParameter("version")
            case (_, let id, _): throw InvalidParameter(id == nil ? "id" : "record")
            }
        case .early: self = .early
        case .late: self = .late
        case .unknown: self = .unknown(reason: try members.knownReason)
        case .unreachable: self = .unreachable(reason: try members.knownReason)
        }
    }
}

extension Propose.AnswerMembers {
    fileprivate var knownReason: String {
        get throws(InvalidParameter) {
            guard let reason else { throw InvalidParameter("reason") }
            return reason
        }
    }
}
