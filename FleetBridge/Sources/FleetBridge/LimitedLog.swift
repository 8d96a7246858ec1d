import NIOCore
import System

/// A log with a limit, because an engine can cause lines as often as it likes.
@BridgeLoop
final class LimitedLog {
    private let log: Log
    private var limit = RateLimitedLog<Log.Level>(lines: 20, spanUSec: 60_000_000)
    private var isScheduled = false

    init(_ log: Log) { self.log = log }

    /// Logs a sentence, now or at the end of the minute.
    func write(_ level: Log.Level, _ sentence: String) {
        limit.write(level, level, sentence, to: log, at: BootClock.now)
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
}
