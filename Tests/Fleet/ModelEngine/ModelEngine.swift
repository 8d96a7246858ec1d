/// An engine of a fleet in memory: it compares IDs and windows, gives versions and keeps a log, and knows nothing about
/// countdowns. Instants are microseconds of its clock, which the caller reads.
package struct ModelEngine<Key: Hashable & Sendable, ID: Hashable & Sendable, Record: Sendable>: Sendable {
    /// A change of a key, or with no record the question whether the key still has the expected record.
    package struct Proposal: Sendable {
        let key: Key
        let expected: ID?
        let notBefore: Int64
        let notAfter: Int64
        let due: Int64?
        let id: ID
        let record: Record?

        package init(
            key: Key,
            expected: ID?,
            notBefore: Int64,
            notAfter: Int64,
            due: Int64?,
            id: ID,
            record: Record?
        ) {
            self.key = key
            self.expected = expected
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.due = due
            self.id = id
            self.record = record
        }
    }

    /// A change in the log.
    package struct Entry: Sendable {
        /// The key.
        package let key: Key
        /// The version that the engine gave it.
        package let version: Int64
        /// Its ID.
        package let id: ID
        /// The record that it made.
        package let record: Record
    }

    /// The fate of a proposal.
    package enum Answer: Sendable {
        /// It was made or confirmed; the version of the record, nil if the key has none.
        case won(Int64?)
        /// The key has another record, or none.
        case conflict(Entry?)
        /// Its window is not open yet.
        case early
        /// Its window has closed.
        case late
        /// The engine is full.
        case refused
    }

    /// Whether the log goes on after a change.
    package enum Verdict: Sendable {
        /// It goes on there.
        case resumed
        /// It begins later.
        case trimmed
        /// It has another change there, or ends before it.
        case diverged
    }

    /// The version of the last change, or the one with which the log began.
    package private(set) var version: Int64
    /// The records.
    package private(set) var records: [Key: Entry] = [:]
    /// The changes that are kept, in order and without gaps.
    package private(set) var log: [Entry] = []
    /// Whether changes are refused.
    package var isFull = false

    /// The version with which this log began.
    private let origin: Int64
    private var due: [Key: Int64] = [:]
    /// No record is due before this instant.
    private var firstDue = Int64.max

    /// An empty engine. Its log begins with the time, so that versions are never used again.
    package init(at now: Int64) { (version, origin) = (now, now) }

    /// Carries out proposals in their order. If the engine is full, it must also refuse each change that builds on a refused one.
    package mutating func propose(_ proposals: [Proposal], at now: Int64) -> [Answer] {
        var refused: Set<ID> = []
        let answers = proposals.map { proposal in
            if let expected = proposal.expected, refused.contains(expected) {
                refused.insert(proposal.id)
                return Answer.refused
            }
            let answer = propose(proposal, at: now)
            if case .refused = answer { refused.insert(proposal.id) }
            return answer
        }
        if firstDue <= now { removeDue(at: now) }
        return answers
    }

    private mutating func propose(_ proposal: Proposal, at now: Int64) -> Answer {
        let held = records[proposal.key]
        if let held, held.id == proposal.id { return .won(held.version) }
        guard held?.id == proposal.expected else { return .conflict(held) }
        guard now >= proposal.notBefore else { return .early }
        guard now <= proposal.notAfter else { return .late }
        guard let record = proposal.record else { return .won(held?.version) }
        guard !isFull else { return .refused }
        version += 1
        let entry = Entry(key: proposal.key, version: version, id: proposal.id, record: record)
        log.append(entry)
        records[proposal.key] = entry
        due[proposal.key] = proposal.due
        firstDue = min(firstDue, proposal.due ?? .max)
        return .won(entry.version)
    }

    /// Removes a few records that are due.
    private mutating func removeDue(at now: Int64) {
        for key in due.filter({ $0.value <= now }).keys.prefix(3) {
            due[key] = nil
            records[key] = nil
        }
        firstDue = due.values.min() ?? .max
    }

    /// Removes all changes of the log but the newest.
    package mutating func trimLog(to count: Int) { log.removeFirst(max(0, log.count - count)) }

    /// Whether the log goes on after a change. The ID of the change may be unknown.
    package func resume(after last: Int64, _ id: ID?) -> Verdict {
        guard (origin...version).contains(last) else { return .diverged }
        guard let first = log.first, first.version <= last else {
            let isLevel = log.first.map { $0.version == last + 1 } ?? (last == version)
            // The change itself is not in the log.
            return isLevel && (id == nil || log.isEmpty) ? .resumed : .trimmed
        }
        return id == nil || log[Int(last - first.version)].id == id ? .resumed : .diverged
    }

    /// The changes of the log after a version, at most so many.
    package func entries(after last: Int64, limit: Int = .max) -> [Entry] {
        guard let first = log.first, last < version else { return [] }
        return Array(log.dropFirst(Int(max(0, last + 1 - first.version))).prefix(limit))
    }
}
