import CSystemd
import CountdownCore
import Glibc
import System

/// The daemon's log: structured entries if stderr is the journal, else lines on stderr.
///
/// Keys are often phone numbers, so they are logged at debug level only.
struct Log: Sendable {
    /// The levels of syslog(3) that are used here.
    enum Level: Int32, Comparable, CaseIterable, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        init?(name: String) {
            guard let level = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
            self = level
        }
    }

    private enum Sink: Sendable {
        case standardError
        case journal
        case elsewhere(@Sendable (Level, String) -> Void)
    }

    /// Nothing below it is logged.
    var level: Level
    private let destination: Sink

    /// - Parameters:
    ///   - level: nothing below it is logged.
    ///   - journalStream: the variable `JOURNAL_STREAM`, with which systemd identifies the journal's file.
    init(level: Level, journalStream: String?) {
        self.level = level
        let stderr = FileIdentity(of: STDERR_FILENO)
        let isJournal = journalStream != nil && journalStream == stderr.map { "\($0.device):\($0.inode)" }
        destination = isJournal ? .journal : .standardError
    }

    /// A log that calls a function with each line.
    init(level: Level, to write: @escaping @Sendable (Level, String) -> Void) {
        self.level = level
        destination = .elsewhere(write)
    }

    /// Logs a sentence, with escapes in place of characters that cannot be seen, because it can contain a client's text.
    /// The fields go into the journal as they are; their names are in capitals.
    func write(_ level: Level, _ message: String, fields: KeyValuePairs<String, String> = [:]) {
        guard level <= self.level else { return }
        let message = PrintableText.escape(message)
        switch destination {
        case .journal:
            let head = ["MESSAGE=\(message)", "PRIORITY=\(level.rawValue)", "SYSLOG_IDENTIFIER=countdownd"]
            send(head + fields.map { "COUNTDOWND_\($0.key)=\($0.value)" })
        case .standardError: Self.writeLine("countdownd: \(level): \(message)\n")
        case .elsewhere(let write): write(level, message)
        }
    }

    private func send(_ fields: [String]) {
        let texts = unsafe fields.map { unsafe strdup($0) }
        let vectors = unsafe texts.map { unsafe iovec(iov_base: $0, iov_len: $0.map { unsafe strlen($0) } ?? 0) }
        _ = unsafe vectors.withUnsafeBufferPointer { unsafe sd_journal_sendv($0.baseAddress, Int32($0.count)) }
        for index in unsafe texts.indices { unsafe free(texts[index]) }
    }

    /// Writes to stderr. If that fails, the line is lost.
    static func writeLine(_ line: String) {
        var line = line
        line.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// A log with a rate limit, for lines that clients can cause as often as they like. In each interval a number of lines
/// of each topic is written. Further lines are counted, and written as one line at the end of the interval.
struct RateLimitedLog {
    enum Topic: CaseIterable {
        case notAccepting
        /// A user has too many connections.
        case overQuota
        /// A client does not read its events or replies.
        case slow
        /// A client sends more than can be carried out, or never ends a message.
        case inputQuota
        case messageTooLong
        case brokenProtocol
        /// A record of a fleet is of a newer format, or malformed.
        case unusableRecord
        /// A host of a fleet heard of a change after the deadline.
        case postponedTooLate

        /// A client that breaks the protocol has a fault that only its author can mend.
        var level: Log.Level { self == .brokenProtocol ? .debug : .warning }
    }

    private struct Interval {
        let end: BootInstant
        var written = 0
        var withheld = 0
        /// The line that was suppressed last.
        var last: String?
    }

    private let lines: Int
    private let duration: Duration
    private var intervals: [Topic: Interval] = [:]

    init(limits: Limits) {
        (lines, duration) = (limits.logLines, limits.logSpan)
    }

    /// When suppressed lines are summarized next; nil if no line was suppressed.
    var next: BootInstant? { intervals.values.filter { $0.withheld > 0 }.map(\.end).min() }

    /// Writes a line, or counts it.
    mutating func write(
        _ topic: Topic,
        _ message: String,
        fields: KeyValuePairs<String, String> = [:],
        to log: Log,
        at now: BootInstant
    ) {
        guard topic.level <= log.level else { return }
        summarize(to: log, at: now)
        var interval = intervals[topic] ?? Interval(end: now + duration)
        if interval.written < lines {
            interval.written += 1
            log.write(topic.level, message, fields: fields)
        } else {
            interval.withheld += 1
            interval.last = message
        }
        intervals[topic] = interval
    }

    /// Ends the intervals that are over, and writes a summary of their suppressed lines.
    mutating func summarize(to log: Log, at now: BootInstant) {
        for topic in Topic.allCases {
            guard let interval = intervals[topic], interval.end <= now else { continue }
            intervals[topic] = nil
            guard let last = interval.last else { continue }
            let more = interval.withheld - 1
            log.write(topic.level, more > 0 ? "\(last), and \(more) more like it" : last, fields: ["MORE": "\(more)"])
        }
    }
}
