import Backend
import CountdownCore
import Fleet
import Varlink

/// Why a reply of the bridge cannot be used.
struct InvalidReply: Error, CustomStringConvertible {
    let description: String
}

extension Reply {
    /// Decodes the parameters.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    func decoded<Value: JSONDecodable>(as type: Value.Type = Value.self) throws(InvalidReply) -> Value {
        do throws(InvalidParameter) {
            return try parameters()
        } catch {
            throw InvalidReply(description: "invalid value of '\(error.parameter)'")
        }
    }
}

extension Propose.Proposal {
    /// A proposal as the bridge takes it.
    init(_ proposal: Fleet.Proposal) {
        self.init(
            key: proposal.key.text,
            expected: proposal.expected?.text,
            notBeforeUSec: proposal.window.notBefore?.microseconds ?? 0,
            notAfterUSec: proposal.window.notAfter.microseconds,
            dueUSec: proposal.due?.microseconds,
            id: proposal.id.text,
            record: proposal.record.map(RecordText.init(utf8:))
        )
    }
}

extension Fleet.Answer {
    /// An answer of the bridge to a proposal.
    ///
    /// - Throws: if it is none that a bridge can give.
    init(_ answer: Propose.Answer, to proposal: Fleet.Proposal) throws(InvalidReply) {
        switch answer {
        case .won(let version): self = .won(try Self.version(version, of: proposal))
        case .unacknowledged(let version): self = .unacknowledged(try Self.version(version, of: proposal))
        case .conflict(let record):
            self = .conflict(record.map { LogEntry($0, under: proposal.key) })
        case .early: self = .early
        case .late: self = .late
        case .unknown(let reason): self = .unknown(reason)
        case .unreachable(let reason): self = .unreachable(reason)
        }
    }

    /// The version of a change; a key without a record has none to confirm.
    private static func version(_ number: Int64?, of proposal: Fleet.Proposal) throws(InvalidReply) -> Version {
        guard number != nil || proposal.record == nil else {
            throw InvalidReply(description: "a change that was made has no version")
        }
        return Version(number ?? 0)
    }
}

extension LogEntry {
    /// An entry with an ID that no daemon makes has a record that cannot be used, so that only its key is affected.
    private init(_ key: Key, _ version: Int64, _ id: String, _ record: RecordText?) {
        let known = ProposalID(id)
        self.init(
            key: key,
            version: Version(version),
            id: known ?? .foreign,
            record: known == nil ? [] : record?.utf8
        )
    }

    fileprivate init(_ record: Propose.StoredRecord, under key: Key) {
        self.init(key, record.version, record.id, record.record)
    }

    fileprivate init(_ entry: Follow.Entry) throws(InvalidReply) {
        guard let key = try? Key(entry.key) else { throw InvalidReply(description: "an entry has an invalid key") }
        self.init(key, entry.version, entry.id, entry.record)
    }
}

extension LogCursor.Event {
    /// The greatest number of entries of an event.
    private static let entriesAtOnce = 64

    /// The events of a reply; none if there is only a clock in it.
    ///
    /// - Throws: if the reply is none that a bridge can give.
    static func events(of reply: Follow.Reply) throws(InvalidReply) -> [LogCursor.Event] {
        switch reply.state {
        case .resumed: return [.resumed]
        case .trimmed: return [.trimmed]
        case .diverged: return [.diverged]
        case .page:
            guard let start = reply.last else { throw InvalidReply(description: "a page has no version") }
            let id = start.id.flatMap(ProposalID.init)
            let position = LogCursor.Position(version: Version(start.version), id: id)
            return try parts(of: reply.entries) { .page($0, position) }
        case .changes: return try parts(of: reply.entries) { .changes($0) }
        case .live: return [.live]
        case .lost: return [.lost(reply.reason ?? "the bridge gives no reason")]
        case .clock: return []
        }
    }

    /// An event for each few of the entries, and one if there are no entries.
    private static func parts(
        of entries: [Follow.Entry],
        _ event: ([LogEntry]) -> LogCursor.Event
    ) throws(InvalidReply) -> [LogCursor.Event] {
        var events: [LogCursor.Event] = []
        var begin = 0
        repeat {
            let end = min(begin + entriesAtOnce, entries.count)
            events.append(event(try entries[begin..<end].map { entry throws(InvalidReply) in try LogEntry(entry) }))
            begin = end
        } while begin < entries.count
        return events
    }
}
