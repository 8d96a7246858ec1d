import Glibc
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

/// The version of the bridge, which is released with the daemon.
enum BridgeVersion {
    static let current = "0.1.0"
}
