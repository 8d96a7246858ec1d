import CSystemd
import Glibc
import System

/// The daemon's log: the journal with its fields where stderr is the journal, lines on stderr elsewhere.
///
/// Keys are often phone numbers: they are logged at debug level only.
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

    private enum Destination: Sendable {
        case standardError
        case journal
        case elsewhere(@Sendable (Level, String) -> Void)
    }

    let level: Level
    private let destination: Destination

    /// - Parameters:
    ///   - level: nothing below it is logged.
    ///   - journalStream: the variable `JOURNAL_STREAM`, by which systemd names the file that is the journal.
    init(level: Level, journalStream: String?) {
        self.level = level
        let stderr = FileIdentity(of: STDERR_FILENO)
        let isJournal = journalStream != nil && journalStream == stderr.map { "\($0.device):\($0.inode)" }
        destination = isJournal ? .journal : .standardError
    }

    /// A log of which each line is handed to a function.
    init(level: Level, to write: @escaping @Sendable (Level, String) -> Void) {
        self.level = level
        destination = .elsewhere(write)
    }

    /// Logs a sentence, with escapes in place of characters that cannot be seen: it can contain a client's text.
    ///
    /// - Parameter fields: go into the journal as they are, with names in capitals.
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

    /// Writes to stderr as it is; nothing is done about one that cannot be written.
    static func writeLine(_ line: String) {
        var line = line
        line.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
