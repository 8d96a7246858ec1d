import CountdownCore
import Fleet
import IPC
import Varlink

extension Translation {
    /// The reply to `GetStatus`.
    func status(
        started: WallInstant,
        timetable: borrowing Timetable,
        watchers: Int,
        connections: Int,
        counters: [String: Int],
        queuedStarts: Int,
        fleet: GetStatus.Fleet?,
        lateness: DurationHistogram,
        queues: [String: Int],
        storageFailure: String?
    ) -> some JSONEncodable {
        GetStatus.Reply(
            version: Version.current,
            startedUSec: started.microseconds,
            running: Int64(timetable.runningCount),
            paused: Int64(timetable.pausedCount),
            watchers: Int64(watchers),
            connections: Int64(connections),
            revision: timetable.revision.number,
            oldestRevision: timetable.oldestRevision.number,
            limits: limits.named.mapValues { Int64($0) },
            counters: counters.mapValues { Int64($0) },
            queuedStarts: Int64(queuedStarts),
            fleet: fleet,
            lateness: GetStatus.Durations(lateness),
            queues: queues.mapValues { Int64($0) },
            storageFailure: storageFailure
        )
    }
}

extension FleetMember {
    /// The fleet in the reply to `GetStatus`.
    ///
    /// - Parameters:
    ///   - clockLead: how far the engine's clock is ahead of the system clock; nil if that is not known.
    ///   - now: this instant.
    /// - Returns: the object.
    func status(clockLead: Duration?, at now: Now) -> GetStatus.Fleet {
        GetStatus.Fleet(
            engine: description?.engine,
            namespace: description?.namespace,
            shards: [
                GetStatus.Shard(
                    state: GetStatus.ShardState(engineWatch.state),
                    sinceUSec: engineWatch.since.microseconds,
                    lagUSec: engineWatch.lag(at: now).microseconds,
                    reason: engineWatch.reason
                )
            ],
            clockAheadUSec: clockLead?.microseconds,
            clockErrorUSec: link.clockError?.microseconds,
            roundTrip: GetStatus.Durations(link.roundTrips)
        )
    }
}

extension GetStatus.ShardState {
    fileprivate init(_ state: EngineWatch.State) {
        switch state {
        case .connecting: self = .connecting
        case .snapshot: self = .snapshot
        case .live: self = .live
        case .lost: self = .lost
        }
    }
}

extension GetStatus.Durations {
    fileprivate init(_ histogram: DurationHistogram) {
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
