import CountdownCore
import Fleet
import IPC
import Varlink

extension Daemon {
    /// The reply to `GetStatus`.
    func status(at now: Now) -> some JSONEncodable {
        let kept = ["bases": storage.bases, "mostUnsentBytes": connections.totals.mostUnsent]
        let named = [kept, fleet?.counters.named ?? [:]].reduce(counters.named) { $0.merging($1) { own, _ in own } }
        return GetStatus.Reply(
            version: Version.current,
            startedUSec: started.wall.microseconds,
            running: Int64(timetable.runningCount),
            paused: Int64(timetable.pausedCount),
            watchers: Int64(publisher.watchers.count),
            connections: Int64(connections.count),
            revision: timetable.revision.number,
            oldestRevision: timetable.oldestRevision.number,
            limits: limits.named.mapValues { Int64($0) },
            counters: named.mapValues { Int64($0) },
            queuedStarts: Int64(startQueue.count + (fleet?.member.queuedCalls ?? 0)),
            fleet: fleet?.status(clockLead: clocks.engineLead, at: now),
            lateness: GetStatus.Durations(lateness),
            queues: queues.mapValues { Int64($0) },
            storageFailure: storage.failure?.reason ?? fleet?.failure
        )
    }

    /// How much waits now, by the names in `GetStatus`.
    private var queues: [String: Int] {
        let own = [
            "unsentBytes": connections.totals.unsent,
            "receivedBytes": connections.totals.received,
            "heldEnds": timetable.heldEnds,
            "unstoredChanges": storage.unstoredChanges,
            "logPages": storage.logPages,
        ]
        return own.merging(fleet?.queues ?? [:]) { own, _ in own }
    }
}

extension GetStatus.Durations {
    init(_ histogram: DurationHistogram) {
        self.init(
            count: Int64(histogram.count),
            sumUSec: histogram.sum.microseconds,
            p50USec: histogram.quantile(50).microseconds,
            p99USec: histogram.quantile(99).microseconds,
            greatestUSec: histogram.greatest.microseconds,
            atMost: Dictionary(uniqueKeysWithValues: histogram.counted.map { ("\($0.bound)", Int64($0.count)) })
        )
    }
}
