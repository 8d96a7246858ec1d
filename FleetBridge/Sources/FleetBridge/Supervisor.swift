import NIOCore
import RESP
import System

/// Keeps the engine connected: connects, with sentinels to the primary that they name, and connects again when the
/// connections are lost.
@BridgeLoop
final class Supervisor {
    /// The longest pause before another attempt to connect, in microseconds. Sentinels name the new primary before they publish
    /// it.
    private static let longestPause = (ofServer: Int64(5_000_000), ofSentinels: Int64(1_000_000))
    /// How often the connections for changes and queries are checked: a network can lose one without a word, and a firewall
    /// forgets those that are quiet.
    private static let connectionCheck = TimeAmount.seconds(2)
    /// After this time a session counts as connected.
    private static let settlingTime = TimeAmount.seconds(5)

    let log: EngineLog
    /// As it was configured.
    private var configuredURL: EngineURL
    private(set) lazy var primary = makeFinder()
    /// The engine that is being connected to.
    private var target: ServerAddress?
    private(set) var settings: NamespaceSettings
    private(set) var keys: NamespaceKeys
    /// The engine while it is connected.
    private(set) var session: EngineSession?
    /// Why the engine is not connected, as a sentence.
    private(set) var failure: String
    /// Why changes are not made at present although the engine is connected, a sentence for each cause.
    private var refusals: [EngineLog.State: String] = [:]
    /// Is called when changes begin or cease to be refused.
    var onRefusal: () -> Void = {}
    /// Is called when a session has begun.
    var onBegin: (EngineSession) -> Void = { _ in }
    /// Is called with the reason when the engine is lost, and when an attempt to connect fails for another reason.
    var onLoss: (String) -> Void = { _ in }
    private var loggedWarnings: [String] = []
    /// Whether the URL has led to the engine.
    private var hasConnected = false
    private var attempts = 0
    /// Whether the last sessions have ended soon after they had begun: then each further one may do so too.
    private var isFlapping = false
    /// Whether the present session has lasted for a while.
    private var isSettled = false
    /// Counts sessions and new URLs, so that what belongs to an earlier one is ignored.
    private var generation = 0

    init(url: EngineURL, log: EngineLog) {
        configuredURL = url
        self.log = log
        settings = NamespaceSettings(url)
        keys = NamespaceKeys(url.namespace)
        failure = "connecting to \(url.address)"
    }

    /// Why changes are not made at present although the engine is connected, as a sentence; nil if they are.
    var refusal: String? { refusals[.unacknowledged] ?? refusals[.refused] }

    /// The URL, with the engine's address if it is known.
    var url: EngineURL { session?.url ?? configuredURL }

    /// Watches the sentinels, and connects, again and again until it succeeds.
    func start() {
        primary.start()
        connect()
    }

    /// Replaces the URL, for example because the password was changed, and connects with it.
    func replaceURL(_ url: EngineURL) {
        guard url != configuredURL else { return }
        configuredURL = url
        settings = NamespaceSettings(url)
        keys = NamespaceKeys(url.namespace)
        (attempts, hasConnected) = (0, false)
        primary.stop()
        primary = makeFinder()
        if session != nil {
            endSession(EngineFailure("the URL has changed"), level: .info)
            isFlapping = false
        }
        generation += 1
        target = nil
        start()
    }

    // MARK: Connecting

    private func makeFinder() -> PrimaryFinder {
        PrimaryFinder(
            configuredURL,
            log,
            isConnected: { self.session != nil },
            lookUp: { self.lookUpPrimary(isAttempt: false) }
        )
    }

    private func connect() {
        if configuredURL.primary == nil {
            open(configuredURL, epoch: nil)
        } else {
            lookUpPrimary(isAttempt: true)
        }
    }

    /// Asks the sentinels for the primary and its replicas, and connects to it.
    ///
    /// - Parameter isAttempt: whether this is the only attempt to connect.
    private func lookUpPrimary(isAttempt: Bool) {
        let generation = generation
        primary.ask { result in
            guard generation == self.generation else { return }
            switch result {
            case .success(let reports): self.use(reports)
            case .failure(let failure): if isAttempt { self.fail(failure) }
            }
        }
    }

    /// Goes over to the primary that the sentinels name.
    private func use(_ reports: SentinelReports) {
        let known = reports.primary
        // A sentinel that has not heard of the last failover names the primary before it.
        guard session == nil || known.epoch >= session?.epoch ?? 0 else { return }
        primary.reports = reports
        if let session {
            guard known.address != session.url.server else { return }
            let name = url.primary ?? ""
            endSession(EngineFailure("the primary '\(name)' is \(known.address) now, and no longer \(url.address)"))
        } else if known.address != target {
            generation += 1
            open(configuredURL.engine(at: known.address), epoch: known.epoch)
        }
    }

    private func open(_ url: EngineURL, epoch: Int64?) {
        target = url.server
        let generation = generation
        Task {
            do {
                let session = try await EngineSession.open(url, epoch: epoch)
                guard generation == self.generation else {
                    return session.close(EngineFailure("another engine is in use"))
                }
                target = nil
                begin(session)
            } catch  where generation == self.generation {
                target = nil
                fail(EngineFailure(error, of: url))
            } catch {}
        }
    }

    /// An attempt to connect has failed.
    private func fail(_ reason: EngineFailure) {
        let failure = hasConnected ? reason.withoutHint : reason
        let isNews = failure.description != self.failure
        note(failure)
        if isNews { onLoss(failure.description) }
        retry()
    }

    private func retry() {
        attempts += 1
        let longest = configuredURL.primary == nil ? Self.longestPause.ofServer : Self.longestPause.ofSentinels
        let most = Backoff.delay(before: attempts, upTo: longest)
        let generation = generation
        BridgeLoop.run(after: .microseconds(Int64.random(in: (most / 2)...most))) {
            if generation == self.generation { self.connect() }
        }
    }

    private func note(_ failure: EngineFailure, _ level: Log.Level = .error) {
        self.failure = failure.description
        log.enter(.lost, level, failure.description)
    }

    // MARK: The session

    private func begin(_ session: EngineSession) {
        generation += 1
        (isSettled, hasConnected) = (false, true)
        self.session = session
        refusals = [:]
        primary.begin(with: session.replicas)
        let generation = generation
        for connection in session.connections {
            connection.onEnd = { failure in
                if generation == self.generation { self.endSession(failure) }
            }
        }
        if !isFlapping { logConnection(to: session) }
        log.leave(.foreignMessage)
        if session.warnings != loggedWarnings {
            for warning in session.warnings { log.write(.warning, warning) }
            loggedWarnings = session.warnings
        }
        onBegin(session)
        beat(every: Self.connectionCheck) { session in
            for connection in [session.changes, session.subscription] { connection.check() }
            self.checkPolicy(of: session)
        }
        BridgeLoop.run(after: Self.settlingTime) {
            if generation == self.generation { self.settle(session) }
        }
        // A connection may have ended between its last reply and this.
        if let failure = session.connections.compactMap(\.end).first { endSession(failure) }
    }

    /// Checks the connection for queries, and that the engine still keeps all keys: a lost record would let a key be started twice.
    private func checkPolicy(of session: EngineSession) {
        session.queries.send(["INFO", "memory"]) { reply in
            guard session.changes === self.session?.changes, let text = (try? reply.get())?.text else { return }
            do throws(EngineFailure) {
                try EngineInfo(text).checkPolicy(session.url)
            } catch {
                self.endSession(error)
            }
        }
    }

    private func settle(_ session: EngineSession) {
        isSettled = true
        attempts = 0
        if isFlapping { logConnection(to: session) }
        isFlapping = false
    }

    private func logConnection(to session: EngineSession) {
        log.leave(.lost)
        let primary = url.primary.map { ", the primary '\($0)'" } ?? ""
        log.write(.info, "connected to \(session.engine) at \(url.address)\(primary), namespace \(url.namespace)")
    }

    /// Runs a body again and again while the session lasts.
    func beat(every time: TimeAmount, _ body: @escaping (EngineSession) -> Void) {
        let generation = generation
        BridgeLoop.run(after: time) {
            guard generation == self.generation, let session = self.session else { return }
            body(session)
            if generation == self.generation { self.beat(every: time, body) }
        }
    }

    /// Gives up the connections, and connects anew.
    func endSession(_ failure: EngineFailure, level: Log.Level = .error) {
        guard let session else { return }
        self.session = nil
        generation += 1
        isFlapping = !isSettled
        note(failure, level)
        onLoss(failure.description)
        session.close(failure)
        retry()
    }

    /// The engine has refused a command with these words.
    func note(refusal words: String, of command: String) {
        let failure = EngineFailure(reply: words, to: command, of: url)
        if EngineFailure.endsSession(words) {
            endSession(failure)
        } else {
            log.enter(.refused, .error, "changes are refused: \(failure)")
            note(.refused, failure.description)
        }
    }

    /// The engine has made a change.
    func noteAcceptance() {
        log.leave(.refused, "\(url.address) accepts changes again")
        note(.refused, nil)
    }

    /// Notes why changes are not made; nil if this cause is over.
    func note(_ cause: EngineLog.State, _ refusal: String?) {
        let before = self.refusal
        refusals[cause] = refusal
        if before != self.refusal { onRefusal() }
    }
}
