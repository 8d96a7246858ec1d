import CountdownCore
import Fleet
import ModelEngine

/// The engine that tests know by the types of `Fleet`.
struct Engine {
    private typealias Model = ModelEngine<Key, ProposalID, [UInt8]>

    private var model: Model

    /// Versions begin with the time.
    init(at now: WallInstant) { model = Model(at: now.microseconds) }

    /// Whether changes are refused.
    var isFull: Bool {
        get { model.isFull }
        set { model.isFull = newValue }
    }

    var version: LogVersion { LogVersion(model.version) }
    var position: LogCursor.Position { LogCursor.Position(version: version, id: model.log.last?.id) }
    var records: [Key: LogEntry] { model.records.mapValues(Self.entry) }
    var log: [LogEntry] { model.log.map(Self.entry) }

    private static func entry(_ entry: Model.Entry) -> LogEntry {
        LogEntry(key: entry.key, version: LogVersion(entry.version), id: entry.id, record: entry.record)
    }

    /// Carries out proposals in their order.
    mutating func propose(_ proposals: [Proposal], at now: WallInstant) -> [Answer] {
        let proposals = proposals.map { proposal in
            Model.Proposal(
                key: proposal.key,
                expected: proposal.expected,
                notBefore: proposal.window.notBefore?.microseconds ?? .min,
                notAfter: proposal.window.notAfter.microseconds,
                due: proposal.due?.microseconds,
                id: proposal.id,
                record: proposal.record
            )
        }
        return model.propose(proposals, at: now.microseconds).map { answer in
            switch answer {
            case .won(let version): .won(version.map(LogVersion.init) ?? self.version)
            case .conflict(let held): .conflict(held.map(Self.entry))
            case .early: .early
            case .late: .late
            case .refused: .unreachable("the engine is full")
            }
        }
    }

    /// Removes all entries of the log but the newest.
    mutating func trimLog(to count: Int) { model.trimLog(to: count) }

    /// What a bridge reports to a host that knows everything up to a position, before the entries: whether it can resume.
    func resume(after position: LogCursor.Position) -> LogCursor.Event {
        switch model.resume(after: position.version.number, position.id) {
        case .resumed: .resumed
        case .trimmed: .trimmed
        case .diverged: .diverged
        }
    }

    /// The entries of the log behind a version.
    func entries(after version: LogVersion) -> [LogEntry] { model.entries(after: version.number).map(Self.entry) }
}
