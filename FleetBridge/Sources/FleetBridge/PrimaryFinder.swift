import System

/// The sentinels of a URL: finds the primary, and the replicas that can replace it.
@BridgeLoop
final class PrimaryFinder {
    /// After how many microseconds the sentinels can be asked again, and for how many their reports are used.
    private static let reportTimes: (least: Int64, greatest: Int64) = (200_000, 3_000_000)

    private let url: EngineURL
    private let watches: [SentinelWatch]
    /// Asks the sentinels, and goes over to the primary that they name.
    private let lookUp: () -> Void
    /// The last reports that name the present primary.
    var reports: SentinelReports?
    /// The bodies that wait for the next reports.
    private var awaiting: [() -> Void] = []
    /// When each replica that was connected to the present primary has acknowledged changes of it, on the boot clock.
    private var acknowledgements: [ServerAddress: Int64] = [:]
    /// The replicas of the primary before that.
    private var formerReplicas: Set<ServerAddress> = []

    /// - Parameters:
    ///   - url: leads to the sentinels; without sentinels nothing is found.
    ///   - log: gets a line if a sentinel is lost or found again while the engine is connected.
    ///   - isConnected: whether the engine is connected.
    ///   - lookUp: is called when the primary may have changed; it calls `ask`.
    init(_ url: EngineURL, _ log: EngineLog, isConnected: @escaping () -> Bool, lookUp: @escaping () -> Void) {
        self.url = url
        self.lookUp = lookUp
        watches = url.sentinels.map {
            SentinelWatch(url.sentinel(at: $0), log, isConnected: isConnected, onNews: lookUp)
        }
    }

    /// Watches the sentinels.
    func start() { for watch in watches { watch.start() } }

    /// Ends the watches for good.
    func stop() { for watch in watches { watch.stop() } }

    /// Asks the sentinels for the primary and its replicas.
    func ask(_ completion: @escaping (Result<SentinelReports, EngineFailure>) -> Void) {
        Task {
            do {
                completion(.success(try await PrimaryLookup.reports(of: url)))
            } catch {
                completion(.failure(EngineFailure(error, of: url)))
            }
            let bodies = awaiting
            awaiting = []
            for body in bodies { body() }
        }
    }

    /// Another primary is connected, with these replicas.
    func begin(with replicas: Set<ServerAddress>) {
        formerReplicas = Set(acknowledgements.keys)
        acknowledgements = [:]
        note(acknowledgementsOf: replicas, connected: replicas)
    }

    /// Notes which replicas have acknowledged changes, and which are connected.
    func note(acknowledgementsOf replicas: Set<ServerAddress>, connected: Set<ServerAddress>) {
        for replica in connected { acknowledgements[replica] = acknowledgements[replica] ?? .min }
        for replica in replicas { acknowledgements[replica] = BootClock.now }
    }

    /// Finds a replica that the sentinels can make the primary, and that is not among the given ones. The completion gets nil
    /// if there is none, and without sentinels.
    func candidate(
        besides replicas: Set<ServerAddress>,
        of session: EngineSession,
        completion: @escaping (ServerAddress?) -> Void
    ) {
        guard session.epoch != nil, let reports, let missing = reports.replica(besides: replicas, where: { _ in true })
        else { return completion(nil) }
        func candidate() -> ServerAddress? {
            guard let reports = self.reports, reports.isMajority, reports.primary.address == session.url.server,
                BootClock.now - reports.asked < Self.reportTimes.greatest
            else { return missing }
            return reports.replica(besides: replicas) { replica in
                replica.isCandidate(
                    seen: acknowledgements[replica.address],
                    wasReplica: formerReplicas.contains(replica.address),
                    asked: reports.asked
                )
            }
        }
        let (first, age) = (candidate(), BootClock.now - reports.asked)
        if age > Self.reportTimes.least, first != nil || age > Self.reportTimes.greatest / 3 {
            if awaiting.isEmpty { lookUp() }
            awaiting.append(first == nil ? {} : { completion(candidate()) })
        }
        if first == nil || age <= Self.reportTimes.least { completion(first) }
    }
}
