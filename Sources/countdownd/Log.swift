import CLinux
import CountdownCore
import Glibc
import System
import Text
import Varlink

extension Log {
    /// The daemon's log: structured entries if standard error is the journal. Keys are often phone numbers, so they are logged
    /// at debug level only.
    init(level: Level, journalStream: String?) {
        self.init(of: "countdownd", level: level, journalStream: journalStream) { level, sentence, fields in
            let head = [("MESSAGE", sentence), ("PRIORITY", "\(level.rawValue)"), ("SYSLOG_IDENTIFIER", "countdownd")]
            return Self.send(head + fields.map { ("COUNTDOWND_\($0.key)", $0.value) })
        }
    }

    /// Sends an entry by the journal's native protocol, but without waiting for room, as sd_journal_send(3) does.
    private static func send(_ fields: [(name: String, value: String)]) -> Bool {
        let lines = fields.map { "\($0.name)=\(PrintableText.escape($0.value, doublesBackslashes: false))\n" }
        return unsafe linux_unix_tell("/run/systemd/journal/socket", lines.joined()) == 0
    }
}

/// The lines that clients can cause as often as they like.
enum LogTopic: CaseIterable {
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
}

/// The interface `io.systemd.service`, which systemd's own daemons have, so that `varlinkctl` can ask whether the daemon
/// is alive and change its level of logging.
enum LogLevelService {
    static let description = InterfaceDescription(
        name: "io.systemd.service",
        definition: definition,
        methods: ["Ping", "SetLogLevel"]
    )

    private static let definition = """
        # What systemd's services have in common.
        interface io.systemd.service

        # The reply shows that the service is alive.
        method Ping() -> ()

        # Log this level and those below, as syslog(3) numbers them: from 0 to 7, where
        # 3 is error, 4 warning, 5 notice, 6 info, and 7 debug, which names keys. It
        # counts until the service is started again. Only the service's user and root
        # may set it.
        method SetLogLevel(level: int) -> ()

        """

    /// Reads the parameter of `SetLogLevel`.
    ///
    /// - Throws: its name, if it is missing or not a level.
    static func level(from parameters: inout JSONReader) throws(InvalidParameter) -> Log.Level {
        var level = JSONMember<Int64>("level")
        try parameters.members { level.read(&$0) }
        let number = try level.required
        // The daemon writes no line that is more urgent than an error.
        guard (0...7).contains(number), let level = Log.Level(rawValue: max(3, Int32(number))) else {
            throw InvalidParameter("level")
        }
        return level
    }
}
