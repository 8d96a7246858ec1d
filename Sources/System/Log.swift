import Glibc
import Text

/// The log of a program: lines on standard error, with the priorities of sd-daemon(3) if that is the journal.
public struct Log: Sendable {
    /// The levels of syslog(3) that are used here.
    public enum Level: Int32, Comparable, CaseIterable, Sendable {
        /// Something does not work.
        case error = 3
        /// Something may not work, or not as intended.
        case warning = 4
        /// Something unusual that needs no action.
        case notice = 5
        /// An ordinary event.
        case info = 6
        /// For the search for a fault.
        case debug = 7

        /// A more urgent level is less than another one.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// The level with a name such as `error`.
        public init?(name: String) {
            guard let level = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
            self = level
        }
    }

    /// Values for the journal; their names are in capitals.
    public typealias Fields = KeyValuePairs<String, String>
    /// Takes a line: its level, its sentence, and its fields.
    public typealias Sink = @Sendable (Level, String, Fields) -> Void

    /// Less urgent lines are not logged.
    public var level: Level
    private let sink: Sink

    /// A log that calls a function with each line.
    public init(level: Level, to sink: @escaping Sink) { (self.level, self.sink) = (level, sink) }

    /// A log on standard error, with the name of the program in front of each line unless it is the journal, whose file
    /// systemd names in `journalStream`. A function may write to the journal itself, with the fields; a line for which it returns
    /// false is written to the stream. Neither waits for room.
    public init(
        of program: String,
        level: Level = .info,
        journalStream: String? = Environment.value(of: "JOURNAL_STREAM"),
        journal: (@Sendable (Level, String, Fields) -> Bool)? = nil
    ) {
        self.level = level
        let standardError = StandardError.shared
        let stream = FileIdentity(of: STDERR_FILENO).map { "\($0.device):\($0.inode)" }
        guard journalStream != nil, journalStream == stream else {
            let prefix = "\(program): \(Level.warning): "
            sink = { level, sentence, _ in
                standardError.write(line: "\(program): \(level): \(sentence)", noticePrefix: prefix)
            }
            return
        }
        sink = { level, sentence, fields in
            if journal?(level, sentence, fields) == true { return }
            let prefix = "<\(Level.warning.rawValue)>"
            standardError.write(line: "<\(level.rawValue)>\(sentence)", noticePrefix: prefix)
        }
    }

    /// Logs a sentence, with escapes in place of characters that cannot be seen, because it can contain a client's text.
    public func write(_ level: Level, _ sentence: String, fields: Fields = [:]) {
        if level <= self.level { sink(level, PrintableText.escape(sentence), fields) }
    }

    /// Writes a sentence to standard error, after the name of the program. It does not wait: a line that does not fit is dropped
    /// and counted.
    public static func write(_ sentence: String, of program: String) {
        StandardError.shared.write(line: "\(program): \(sentence)", noticePrefix: "\(program): ")
    }

    /// Ends the program because it cannot begin.
    public static func end(_ program: String, _ sentence: String, status: Int32) -> Never {
        write(PrintableText.escape(sentence, doublesBackslashes: false), of: program)
        exit(status)
    }
}

/// A log with a rate limit, for lines that others can cause as often as they like. In each interval a number of lines
/// of each topic is written. Further lines are counted, and written as one line at the end of the interval.
public struct RateLimitedLog<Topic: Hashable & CaseIterable> {
    private let lines: Int
    private let spanUSec: Int64
    private var intervals: [Topic: LogInterval] = [:]

    /// Writes this many lines of a topic in each interval of microseconds.
    public init(lines: Int, spanUSec: Int64) {
        (self.lines, self.spanUSec) = (lines, spanUSec)
    }

    /// The instant at which suppressed lines are summarized next; nil if no line was suppressed. All instants are microseconds of
    /// one clock.
    public var next: Int64? {
        // The daemon asks in each turn, and most turns have no interval. The code is not specialized here, and would then make a key
        // path in 14,000 instructions.
        guard !intervals.isEmpty else { return nil }
        return intervals.values.filter { $0.withheld > 0 }.map { $0.end }.min()
    }

    /// Writes a line, or counts it.
    public mutating func write(
        _ topic: Topic,
        _ level: Log.Level,
        _ sentence: String,
        fields: Log.Fields = [:],
        to log: Log,
        at now: Int64
    ) {
        guard level <= log.level else { return }
        summarize(to: log, at: now)
        var interval = intervals[topic] ?? LogInterval(end: now + spanUSec)
        if interval.written < lines {
            interval.written += 1
            log.write(level, sentence, fields: fields)
        } else {
            interval.withheld += 1
            interval.last = (level, sentence)
        }
        intervals[topic] = interval
    }

    /// Ends the intervals that are over, and writes a summary of their suppressed lines.
    public mutating func summarize(to log: Log, at now: Int64) {
        guard !intervals.isEmpty else { return }
        for topic in Topic.allCases {
            guard let interval = intervals[topic], interval.end <= now else { continue }
            intervals[topic] = nil
            guard let (level, sentence) = interval.last else { continue }
            let more = interval.withheld - 1
            log.write(level, more > 0 ? "\(sentence), and \(more) more like it" : sentence, fields: ["MORE": "\(more)"])
        }
    }
}

/// The lines of a topic in an interval. Not within the log, because its type would be looked up in each turn, in 600 instructions.
private struct LogInterval {
    let end: Int64
    var written = 0
    var withheld = 0
    /// The line that was suppressed last.
    var last: (level: Log.Level, sentence: String)?
}
