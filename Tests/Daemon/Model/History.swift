/// The one history of a run: what every reply and event says about a revision must be the same.
final class History {
    /// The state that was known when a call was sent; its answer can be no older.
    struct Known {
        let revision: Int
        /// The newest record of the call's key.
        let record: Countdown?
        /// The newest end of the key that the daemon keeps.
        let keptEnd: Int?
    }

    /// Whether the daemon keeps as many ends as it does by default, so that none is removed during a run.
    let keepsAllEnds: Bool
    private(set) var records: [Int: Countdown] = [:]
    /// The revisions of each key, in no order.
    private var revisions: [String: Set<Int>] = [:]
    private var newestOfKey: [String: Int] = [:]
    private var types: [Int: String] = [:]
    /// The event types that the reply to a change allows, by its revision.
    private var allowedTypes: [Int: Set<String>] = [:]
    /// Changes that were made under the condition that the key's revision was this one.
    private var conditions: [(revision: Int, condition: Int)] = []
    private(set) var newest = 0
    private(set) var faults: [String] = []
    private(set) var checks = 0

    init(keepsAllEnds: Bool) { self.keepsAllEnds = keepsAllEnds }

    func check(_ condition: Bool, _ fault: @autoclosure () -> String) {
        checks += 1
        if !condition { faults.append(fault()) }
    }

    /// Takes in a countdown from a reply or event.
    func observe(_ countdown: Countdown, as type: String? = nil, in source: @autoclosure () -> String) {
        var record = countdown
        if record.isRunning { record.remainingUSec = 0 }
        let revision = record.revision
        if let known = records[revision] {
            check(known == record, "\(source()): revision \(revision) was \(known), now it is \(record)")
        } else {
            records[revision] = record
            revisions[record.key, default: []].insert(revision)
            newestOfKey[record.key] = max(newestOfKey[record.key] ?? 0, revision)
            newest = max(newest, revision)
            check(countdown.isAlive != (record.endedUSec != nil), "\(source()): endedUSec of \(countdown)")
            check(countdown.isRunning == (record.deadlineUSec != nil), "\(source()): deadlineUSec of \(countdown)")
            check(countdown.state != "finished" || countdown.remainingUSec == 0, "\(source()): \(countdown)")
        }
        if let type, let known = types.updateValue(type, forKey: revision) {
            check(known == type, "\(source()): revision \(revision) was \(known), now it is \(type)")
        }
    }

    /// Takes in a revision without a countdown, from synced, heartbeat or GetStatus.
    func observe(revision: Int) { newest = max(newest, revision) }

    /// Takes in the reply to a change that was sent when `known` was known.
    func observeChange(_ countdown: Countdown, types: Set<String>, condition: Int?, known: Known, in source: String) {
        let revision = countdown.revision
        check(revision > known.revision, "\(source): revision \(revision) is not above \(known.revision)")
        check(allowedTypes[revision] == nil, "\(source): revision \(revision) answers two changes")
        allowedTypes[revision] = types
        if let condition { conditions.append((revision, condition)) }
    }

    func known(of key: String?) -> Known {
        Known(
            revision: newest,
            record: key.flatMap { newestOfKey[$0] }.flatMap { records[$0] },
            keptEnd: key.flatMap { newestKeptEnd(of: $0, before: .max) }
        )
    }

    var keys: [String] { Array(revisions.keys) }

    func newestKeptEnd(of key: String, before revision: Int) -> Int? {
        (revisions[key] ?? []).filter { $0 < revision && records[$0]?.isKeptEnd ?? false }.max()
    }

    /// Checks that an answer about a key is not older than what was known when the call was sent. If a countdown with
    /// forget has ended, the answer is the newest end that is kept.
    func checkFresh(_ countdown: Countdown, known: Known, in source: String) {
        guard let record = known.record, countdown.revision < record.revision else { return }
        let isEarlierEnd = mayForget(countdown.key) && countdown.isKeptEnd
        check(isEarlierEnd, "\(source): \(countdown) is older than the known \(record)")
        let newestEnd = known.keptEnd ?? 0
        check(newestEnd <= countdown.revision, "\(source): \(countdown), but the end \(newestEnd) is newer")
    }

    /// Checks that a key that is said to be unknown was ended and is not kept.
    func checkUnknown(_ known: Known, in source: String) {
        guard keepsAllEnds else { return }
        check(known.keptEnd == nil, "\(source): no such countdown, but the end \(known.keptEnd ?? 0) is kept")
        let isKept = known.record.map { !mayForget($0.key) } ?? false
        check(!isKept, "\(source): no such countdown, but \(known.record.map { "\($0)" } ?? "") was there")
    }

    /// The changes in a range of revisions.
    func changes(after first: Int, upTo last: Int, matching filter: Filter) -> [Countdown] {
        records.values.filter { $0.revision > first && $0.revision <= last && filter.matches($0.key) }
    }

    /// Makes the checks that are possible only at the end of a run.
    func conclude() {
        for (revision, allowed) in allowedTypes {
            guard let type = types[revision] else { continue }
            check(allowed.contains(type), "revision \(revision) was announced as \(type), its reply allows \(allowed)")
        }
        for (revision, condition) in conditions {
            let others = revisions[records[revision]?.key ?? ""]?.filter { $0 > condition && $0 < revision } ?? []
            check(others.isEmpty, "revision \(revision) was made for \(condition), but \(others) came between")
        }
    }
}
