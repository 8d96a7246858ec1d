import FleetWire
import NIOCore
import RESP
import System

/// The engine's clock: reads it again and again, and announces its jumps to the other bridges.
@BridgeLoop
final class EngineTime {
    /// The message on the channel of the bridge that has noticed a jump first, at most once per second.
    private static let announcement = (text: "clock", interval: Int64(1_000_000))
    /// A jump that is logged, in microseconds.
    private static let loggedJump: Int64 = 100_000

    private let engine: Supervisor
    private var estimate = OffsetEstimate()
    /// When the last jump was announced, on the boot clock.
    private var announced = Int64.min / 2
    /// Is called with the offset when it has moved.
    var onMove: (EngineOffset) -> Void = { _ in }

    init(of engine: Supervisor) { self.engine = engine }

    /// The offset of the engine's clock; nil if it was never read.
    var offset: EngineOffset? { estimate.offset(at: BootClock.now) }

    /// The engine is lost.
    func invalidate() { estimate.invalidate() }

    /// Takes a reading of the engine's clock.
    ///
    /// - Parameters:
    ///   - sample: the reading.
    ///   - isTold: whether `onMove` is called.
    ///   - isAnnounced: whether a bridge has announced a jump; then `onMove` is called also if the clock has not moved.
    func take(_ sample: EngineSession.TimeSample, isTold: Bool = true, isAnnounced: Bool = false) {
        let movement = estimate.add(engine: sample.engine, sent: sample.sent, received: sample.received)
        guard isAnnounced || movement != nil else { return }
        if let movement, abs(movement) > Self.loggedJump { logJump(of: movement) }
        guard isTold, let offset else { return }
        onMove(offset)
        if let movement, abs(movement) > engine.settings.margin / 2, !isAnnounced { announceJump() }
    }

    /// Lets the other bridges read the clock at once: those that make no changes would notice the jump later.
    private func announceJump() {
        guard let session = engine.session, BootClock.now - announced >= Self.announcement.interval else { return }
        announced = BootClock.now
        session.queries.send(["SPUBLISH", engine.keys.log, Self.announcement.text]) { _ in }
    }

    /// Reads the clock if a message on the channel announces a jump.
    ///
    /// - Returns: false if the message is about something else.
    func receive(_ message: String) -> Bool {
        guard message == Self.announcement.text else { return false }
        if let session = engine.session { read(session, isAnnounced: true) }
        return true
    }

    /// Reads the clock.
    func read(_ session: EngineSession, isAnnounced: Bool = false) {
        let sent = BootClock.now
        session.queries.send(["TIME"]) { reply in
            guard let time = (try? reply.get()).flatMap(EngineSession.time) else { return }
            self.take(.init(engine: time, sent: sent, received: BootClock.now), isAnnounced: isAnnounced)
            guard let error = self.offset?.errorUSec else { return }
            self.note(error: error)
        }
    }

    private func logJump(of movement: Int64) {
        let sentence = "has jumped by \(movement / 1_000) ms: use NTP on its machine"
        engine.log.write(.error, "the clock of \(engine.url.address) \(sentence)")
    }

    /// Warns if the margin before deadlines does not cover the error of the clock.
    private func note(error: Int64) {
        guard error > engine.settings.margin / 2 else { return engine.log.leave(.vagueClock) }
        let sentence = "can be measured only to within \(error / 1_000) ms: the network is too slow"
        engine.log.enter(.vagueClock, .warning, "the clock of \(engine.url.address) \(sentence)", isLoggedAgain: false)
    }
}
