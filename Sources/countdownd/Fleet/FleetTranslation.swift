import CountdownCore
public import Fleet
import FleetWire
import IPC
public import Varlink

/// Why a reply of the bridge cannot be used.
struct InvalidReply: Error, CustomStringConvertible {
    let description: String
}

extension Reply {
    /// Decodes the parameters.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    func decoded<Value>(
        _ read: (inout JSONReader) throws(InvalidParameter) -> Value
    ) throws(InvalidReply) -> Value {
        do throws(InvalidParameter) {
            return try readParameters(read)
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
            expected: proposal.expected?.text ?? "",
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
        case .conflict(let version, let id, let record):
            self = .conflict(LogEntry(proposal.key, version, ProposalID(id), record))
        case .noRecord: self = .conflict(nil)
        case .early: self = .early
        case .late: self = .late
        case .unknown(let reason): self = .unknown(reason)
        case .unreachable(let reason): self = .unreachable(reason)
        }
    }

    /// The version of a change; a key without a record has none to confirm.
    private static func version(_ number: Int64?, of proposal: Fleet.Proposal) throws(InvalidReply) -> LogVersion {
        guard number != nil || proposal.record == nil else {
            throw InvalidReply(description: "a change that was made has no version")
        }
        return LogVersion(number ?? 0)
    }
}

extension LogEntry {
    /// An entry with an ID that no daemon makes has a record that cannot be used, so that only its key is affected.
    fileprivate init(_ key: Key, _ version: Int64, _ id: ProposalID?, _ record: RecordText?) {
        self.init(
            key: key,
            version: LogVersion(version),
            id: id ?? .foreign,
            record: id == nil ? [] : record?.utf8
        )
    }
}

/// Makes entries of the bytes of a reply, without strings in between.
extension LogEntry: JSONDecodable {
    /// Reads the members.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        let (key, id, entry) = try Follow.Entry.read(from: &reader, keyAs: Key.self, idAs: EntryID.self)
        self.init(key, entry.version, id.known, entry.record)
        guard self.version.number >= 0 else { throw InvalidParameter("version") }
    }

    /// The ID of an entry: any string.
    private struct EntryID: JSONReadable {
        /// Nil if no daemon makes such an ID.
        let known: ProposalID?

        static func read(from reader: inout JSONReader) -> EntryID? {
            reader.withString { EntryID(known: ProposalID($0)) }
        }
    }
}

extension LogCursor.Event {
    /// The number of entries of an event. Changes of one key that follow each other stay together, up to twice as many: the
    /// engine may have made them as one chain.
    private static let entriesAtOnce = 64

    /// The events of a reply with these entries; none if there is only a clock in it.
    ///
    /// - Throws: if the reply is none that a bridge can give.
    static func events(of reply: Follow.Reply, _ entries: [LogEntry]) throws(InvalidReply) -> [LogCursor.Event] {
        switch reply.state {
        case .resumed: return [.resumed]
        case .trimmed: return [.trimmed]
        case .diverged: return [.diverged]
        case .page:
            guard let start = reply.last else { throw InvalidReply(description: "a page has no version") }
            let id = start.id.flatMap(ProposalID.init)
            let position = LogCursor.Position(version: LogVersion(start.version), id: id)
            return parts(of: entries) { .page($0, position) }
        case .changes: return parts(of: entries) { .changes($0) }
        case .live: return [.live]
        case .lost: return [.lost(reply.reason ?? "the bridge gives no reason")]
        case .clock: return []
        }
    }

    /// An event for each few of the entries, and one if there are no entries.
    private static func parts(
        of entries: [LogEntry],
        _ event: ([LogEntry]) -> LogCursor.Event
    ) -> [LogCursor.Event] {
        guard !entries.isEmpty else { return [event([])] }
        var events: [LogCursor.Event] = []
        var rest = entries[...]
        while !rest.isEmpty {
            let last = rest.prefix(entriesAtOnce).last?.key
            let same = rest.dropFirst(entriesAtOnce).prefix(entriesAtOnce).prefix { $0.key == last }
            events.append(event(Array(rest.prefix(entriesAtOnce + same.count))))
            rest = rest.dropFirst(entriesAtOnce + same.count)
        }
        return events
    }
}
