import CountdownCore
import Fleet
import IPC
import System

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
                    reason: failure
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
