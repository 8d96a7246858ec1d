import FleetWire
import NIOCore
import RESP
import System

/// The bridge: serves `io.countdownd.Backend` from the engine.
@BridgeLoop
final class Bridge {
    /// How often the version of the log is compared.
    private static let heartbeat = TimeAmount.seconds(30)
    /// How often the clock is read.
    private static let clockReading = TimeAmount.seconds(5)

    let engine: Supervisor
    let time: EngineTime
    let proposer: Proposer
    let followers: Followers
    /// The last session's engine, for descriptions while it is lost.
    private var engineName: String?

    init(url: EngineURL, log: Log) {
        engine = Supervisor(url: url, log: EngineLog(log))
        time = EngineTime(of: engine)
        let proposer = Proposer(of: engine, time)
        self.proposer = proposer
        followers = Followers(of: engine) { proposer.isAwaitingAnswers }
        proposer.onAnswers = { self.followers.deliverMessages() }
        time.onMove = { _ in self.followers.report() }
        engine.onRefusal = { self.followers.report() }
        engine.onBegin = { self.begin($0) }
        engine.onLoss = { reason in
            self.time.invalidate()
            self.followers.stop(reason)
        }
    }

    private func begin(_ session: EngineSession) {
        engineName = session.engine
        session.subscription.onMessage = { message in
            // Followers look up the log if they cannot read a message.
            let text = message.elements?.last?.text ?? ""
            if !self.time.receive(text) { self.followers.receive(text) }
        }
        for sample in session.samples { time.take(sample, isTold: false) }
        followers.start()
        proposer.begin(session)
        engine.beat(every: Self.heartbeat) { self.followers.checkVersion($0) }
        engine.beat(every: Self.clockReading) { session in
            self.time.read(session)
            let sent = BootClock.now
            session.subscription.send(["PING"]) { reply in
                if case .success = reply { self.note(delay: BootClock.now - sent) }
            }
        }
    }

    /// Warns if changes may come so late that the margin before deadlines does not cover it.
    private func note(delay: Int64) {
        let margin = engine.settings.margin
        guard delay > margin * 3 / 4 else { return engine.log.leave(.slowChannel) }
        let sentence = """
            a command takes \(delay / 1_000) ms to \(engine.url.address) and back, and the margin before deadlines is \
            \(margin / 1_000) ms: a countdown that is postponed shortly before its end may end twice; use a greater margin= in \
            the URLs of all bridges
            """
        engine.log.enter(.slowChannel, .warning, sentence, isLoggedAgain: false)
    }

    /// Answers `Describe`.
    var description: Result<Describe.Reply, BackendError> {
        guard let engineName else { return .failure(.unreachable(reason: engine.failure)) }
        let settings = engine.settings
        return .success(
            Describe.Reply(
                engine: engineName,
                namespace: settings.namespace,
                shards: settings.shards,
                retentionUSec: settings.retention,
                marginUSec: settings.margin,
                countdowns: settings.countdowns,
                acknowledgements: Int64(engine.url.acknowledgements),
                version: BridgeVersion.current
            )
        )
    }
}
