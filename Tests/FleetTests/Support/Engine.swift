import CountdownCore
import Fleet

/// The engine's script: it compares IDs and windows, gives versions and keeps a log, and knows nothing about countdowns.
struct Engine {
    private(set) var version: Version
    private(set) var records: [Key: LogEntry] = [:]
    private(set) var log: [LogEntry] = []
    private var due: [Key: WallInstant] = [:]

    /// If there is no version, it begins with the time, so that versions are never used again.
    init(at now: WallInstant) { version = Version(now.microseconds) }

    var position: LogCursor.Position { LogCursor.Position(version: version, id: log.last?.id) }

    /// Carries out proposals in their order.
    mutating func propose(_ proposals: [Proposal], at now: WallInstant) -> [Answer] {
        let answers = proposals.map { proposal -> Answer in
            let held = records[proposal.key]
            if let held, held.id == proposal.id { return .won(held.version) }
            if held?.id != proposal.expected { return .conflict(held) }
            if let notBefore = proposal.window.notBefore, now < notBefore { return .early }
            if now > proposal.window.notAfter { return .late }
            guard let record = proposal.record else { return .won(held?.version ?? version) }
            version = Version(version.number + 1)
            let entry = LogEntry(key: proposal.key, version: version, id: proposal.id, record: record)
            log.append(entry)
            records[proposal.key] = entry
            due[proposal.key] = proposal.due
            return .won(version)
        }
        for key in due.filter({ $0.value <= now }).keys.prefix(3) {
            due[key] = nil
            records[key] = nil
        }
        return answers
    }

    /// Removes all entries of the log but the newest.
    mutating func trimLog(to count: Int) { log.removeFirst(max(0, log.count - count)) }

    /// What a bridge reports to a host that knows everything up to a position, before the entries: whether it can resume.
    func resume(after position: LogCursor.Position) -> LogCursor.Event {
        guard position.version <= version else { return .diverged }
        guard position.version < version else {
            return position.id == nil || log.last == nil || position.id == log.last?.id ? .resumed : .diverged
        }
        guard let first = log.first, first.version <= position.version else {
            let isNext = log.first?.version == Version(position.version.number + 1)
            return isNext && position.id == nil ? .resumed : .trimmed
        }
        let entry = log[Int(position.version.number - first.version.number)]
        return position.id == nil || entry.id == position.id ? .resumed : .diverged
    }

    /// The entries of the log behind a version.
    func entries(after version: Version) -> [LogEntry] { log.filter { $0.version > version } }
}
