import NIOCore
import System

/// The log of the bridge. A state is logged once, when it begins, and some states again when they end. The log has a limit,
/// because an engine can cause lines as often as it likes.
@BridgeLoop
final class EngineLog {
    /// The states that are logged once.
    enum State {
        case lost, refused, unacknowledged, skipping, foreignMessage, vagueClock, slowChannel
    }

    /// Lines of every level count together.
    private enum Topic: CaseIterable {
        case engine
    }

    private let log: Log
    private var limit = RateLimitedLog<Topic>(lines: 20, spanUSec: 60_000_000)
    private var isScheduled = false
    private var states: [State: String] = [:]

    init(_ log: Log) { self.log = log }

    /// Logs a sentence, now or at the end of the minute.
    func write(_ level: Log.Level, _ sentence: String) {
        limit.write(.engine, level, sentence, to: log, at: BootClock.now)
        summarizeLater()
    }

    private func summarizeLater() {
        guard !isScheduled, let next = limit.next else { return }
        isScheduled = true
        BridgeLoop.run(after: .microseconds(max(0, next - BootClock.now))) {
            self.isScheduled = false
            self.limit.summarize(to: self.log, at: BootClock.now)
            self.summarizeLater()
        }
    }

    /// A state has begun, or lasts.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - level: of the line.
    ///   - sentence: is logged, unless the last sentence of the state was the same.
    ///   - isLoggedAgain: whether another sentence is logged while the state lasts.
    func enter(_ state: State, _ level: Log.Level, _ sentence: String, isLoggedAgain: Bool = true) {
        if let last = states[state], last == sentence || !isLoggedAgain { return }
        states[state] = sentence
        write(level, sentence)
    }

    /// A state has ended, or had not begun; if it has ended, the sentence is logged.
    func leave(_ state: State, _ sentence: String? = nil) {
        if states.removeValue(forKey: state) != nil, let sentence { write(.info, sentence) }
    }
}
