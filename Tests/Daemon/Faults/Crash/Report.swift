import IPC

@testable import countdownd

/// The result of a run.
struct Report {
    let faults: [String]
    let summary: String

    init(
        writers: [Writer],
        watchClients: [WatchClient],
        found: [String: IPC.Countdown],
        stored: Set<Int64>,
        counts: Counts,
        log: String
    ) {
        var facts = Facts()
        for writer in writers { facts.merge(writer.facts) }
        for watchClient in watchClients { facts.merge(watchClient.facts) }
        let all = (writers.map(\.counts) + watchClients.map(\.counts)).reduce(counts, +)
        var faults = writers.flatMap(\.ledger.faults) + facts.faults + all.oddEnds
        for watchClient in watchClients { faults += watchClient.faults(found: found, stored: stored) }
        faults += log.split(separator: "\n").filter { $0.contains(": error: ") || $0.contains("atal") }.map(String.init)
        self.faults = faults
        let made = writers.reduce(0) { $0 + $1.ledger.cutOff.made }
        let ended = writers.reduce(0) { $0 + $1.ledger.endingsFound }
        summary = """
            \(all); of those cut off \(made) were made; \(ended) found ended at their deadline; \
            \(stored.count) endings kept, each told once to each of \(watchClients.count) watchClients; \(facts.count) revisions
            """
    }
}

/// The content of the store after its daemon has stopped.
enum StoredEndings {
    /// The revisions of all ends that are kept.
    static func read(_ directory: String) throws -> Set<Int64> {
        let database = try Database(path: "\(directory)/countdowns.db", busyMilliseconds: 0, trustingSchema: true)
        let rows = try database.prepare("SELECT revision FROM countdown WHERE state IN (2, 3)")
        var revisions: Set<Int64> = []
        while try rows.step(), let revision = rows.integer(0) { revisions.insert(revision) }
        return revisions
    }
}
