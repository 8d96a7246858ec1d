import FleetWire
import System

/// The sentences about the engine in the log. A state is logged once, when it begins, and some again when they end.
@BridgeLoop
final class EngineLog {
    private let log: LimitedLog
    /// The failure that was logged last; nil if the engine is connected.
    private var failure: String?
    private var warnings: [String] = []
    private var refusal: String?
    private var isUnacknowledged = false
    private var skips = 0
    private var hasForeignMessage = false
    private var isClockTooVague = false
    private var isTooSlow = false

    init(_ log: LimitedLog) { self.log = log }

    /// The engine is connected.
    func connected(to session: EngineSession) {
        failure = nil
        let url = session.url
        let primary = url.primary.map { ", the primary '\($0)'" } ?? ""
        log.write(.info, "connected to \(session.engine) at \(url.address)\(primary), namespace \(url.namespace)")
    }

    /// A session has begun, with the engine's settings that can lose changes.
    func began(_ session: EngineSession) {
        hasForeignMessage = false
        guard session.warnings != warnings else { return }
        warnings = session.warnings
        for warning in warnings { log.write(.warning, warning) }
    }

    /// The engine cannot be used.
    func failed(_ reason: EngineFailure, _ level: Log.Level = .error) {
        guard failure != reason.description else { return }
        failure = reason.description
        log.write(level, reason.description)
    }

    /// The engine has refused a change.
    func refused(_ failure: EngineFailure) {
        guard refusal != failure.description else { return }
        refusal = failure.description
        log.write(.error, "changes are refused: \(failure)")
    }

    /// The engine has made a change.
    func accepted(by url: EngineURL) {
        guard refusal != nil else { return }
        refusal = nil
        log.write(.info, "\(url.address) accepts changes again")
    }

    /// Replicas have acknowledged changes in time; another one can become the primary.
    func acknowledged(by count: Int, of url: EngineURL, lacking candidate: ServerAddress?) {
        let isEnough = count >= url.acknowledgements && candidate == nil
        guard isEnough == isUnacknowledged else { return }
        isUnacknowledged = !isEnough
        guard !isEnough else { return log.write(.info, "the replicas of \(url.address) acknowledge changes again") }
        let need = candidate.map { "\($0) can become the primary" } ?? "acks=\(url.acknowledgements) demands more"
        let sentence = "\(count) replicas of \(url.address) acknowledge changes in time"
        log.write(.error, "\(sentence), and \(need): they may be lost")
    }

    /// Records of a snapshot cannot be read.
    func skipped(_ count: Int, in key: String, at url: EngineURL) {
        guard count != skips else { return }
        skips = count
        if count > 0 {
            log.write(.error, "\(count) records in \(key) at \(url.address) cannot be read, and are skipped")
        }
    }

    /// A follower reads every record again.
    func readsAgain(_ state: Follow.State, _ reason: String, at url: EngineURL) {
        log.write(state == .trimmed ? .warning : .error, "\(url.address): \(reason): every record is read again")
    }

    /// A message of the channel cannot be read.
    func foreignMessage(in channel: String, at url: EngineURL) {
        guard !hasForeignMessage else { return }
        hasForeignMessage = true
        log.write(.error, "a message in \(channel) at \(url.address) is no change: the log is read in its place")
    }

    /// The engine's clock was set.
    func clockJumped(by microseconds: Int64, at url: EngineURL) {
        log.write(
            .error,
            "the clock of \(url.address) has jumped by \(microseconds / 1_000) ms: use NTP on its machine"
        )
    }

    /// The engine's clock was read. If the margin before deadlines does not cover its error, a warning is logged.
    func clockRead(error: Int64, margin: Int64, at url: EngineURL) {
        let isTooVague = error > margin / 2
        if isTooVague, !isClockTooVague {
            log.write(
                .warning,
                "the clock of \(url.address) can be measured only to within \(error / 1_000) ms: the network is too slow"
            )
        }
        isClockTooVague = isTooVague
    }

    /// A command went to the engine and back. If changes may come so late that the margin before deadlines does not cover
    /// it, a warning is logged.
    func channelDelayed(by delay: Int64, margin: Int64, at url: EngineURL) {
        let isTooSlow = delay > margin * 3 / 4
        if isTooSlow, !self.isTooSlow {
            log.write(
                .warning,
                "a command takes \(delay / 1_000) ms to \(url.address) and back, and the margin before deadlines is "
                    + "\(margin / 1_000) ms: a countdown that is postponed shortly before its end may end twice; "
                    + "use a greater margin= in the URLs of all bridges"
            )
        }
        self.isTooSlow = isTooSlow
    }
}
