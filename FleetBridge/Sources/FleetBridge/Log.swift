import Glibc
import NIOCore
import System

/// The bridge's log: lines on standard error, with the priorities of sd-daemon(3) if that is the journal.
public struct Log: Sendable {
    /// The levels of syslog(3) that are used here.
    enum Level: Int, Sendable {
        case error = 3
        case warning = 4
        case info = 6
    }

    private let isJournal: Bool

    /// A log for the standard error of this process.
    public init() {
        var status = stat()
        let stream = getenv("JOURNAL_STREAM").map { String(cString: $0) }
        isJournal = fstat(STDERR_FILENO, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Logs a sentence, with escapes in place of characters that cannot be seen, because the engine can send any text.
    func write(_ level: Level, _ sentence: String) {
        let text = PrintableText.escape(sentence, doublesBackslashes: false)
        Self.writeLine(isJournal ? "<\(level.rawValue)>\(text)\n" : "countdownd-redis: \(level): \(text)\n")
    }

    /// Writes to standard error. If that fails, the line is lost.
    public static func writeLine(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// A log with a limit, because an engine can cause lines as often as it likes: in each minute a number of lines is written,
/// and at its end the last one of those that were left out. It is confined to its event loop.
final class LimitedLog: @unchecked Sendable {
    private static let limit = 20
    private static let interval = TimeAmount.minutes(1)

    private let log: Log
    private let loop: any EventLoop
    private var written = 0
    private var leftOut = 0
    private var last: (level: Log.Level, sentence: String)?

    init(_ log: Log, on loop: any EventLoop) { (self.log, self.loop) = (log, loop) }

    /// Logs a sentence, now or at the end of the minute.
    func write(_ level: Log.Level, _ sentence: String) {
        if written == 0 { loop.scheduleTask(in: Self.interval) { self.endInterval() } }
        if written < Self.limit {
            written += 1
            log.write(level, sentence)
        } else {
            leftOut += 1
            last = (level, sentence)
        }
    }

    private func endInterval() {
        written = 0
        guard let last else { return }
        let others = leftOut > 1 ? ", after \(leftOut - 1) lines that are left out" : ""
        (leftOut, self.last) = (0, nil)
        write(last.level, last.sentence + others)
    }
}

/// The version of the bridge, which is released with the daemon.
enum BridgeVersion {
    static let current = "0.1.0"
}
