import IPC
import Text
import Varlink

/// A change that will be undone, as its file has it. The file decides whether it is undone; the countdown `undo/NAME` says
/// only when.
struct UndoRecord: Equatable {
    /// The version of the format. A file of another version is left alone.
    static let version: Int64 = 1

    /// How far the change has come.
    enum Stage: String, CaseIterable, JSONReadable, JSONWritable {
        /// The command may have run.
        case prepared
        /// The command has succeeded.
        case changed
        /// The user keeps the change.
        case kept
    }

    var stage = Stage.prepared
    /// The key without `undo/`.
    let name: String
    /// The program that undoes the change, and its arguments.
    let words: [String]
    /// The working directory of the undo.
    let directory: String
    /// The `PATH` of the undo.
    let path: String
    let machine: String
    /// The boot in which the deadline was noted.
    var boot: String
    /// The end of the countdown, in microseconds since 1970, and its duration when the end was noted.
    var deadlineUSec: Int64
    var durationUSec: Int64?
    /// How long the undo may take, in microseconds.
    let timeoutUSec: Int64
    /// The label and the metadata of the countdown.
    var label: String?
    var metadata: TextMap<String> = [:]
    /// Why the last attempt to undo the change failed; nil if there was none.
    var failure: String?

    /// The beginning of the keys.
    static let prefix = "undo/"

    var key: String { Self.prefix + name }

    /// Takes over the end of its countdown.
    mutating func note(_ countdown: Countdown, now: Int64, boot: String) {
        deadlineUSec = countdown.deadlineUSec ?? now + countdown.remainingUSec
        durationUSec = countdown.durationUSec
        self.boot = boot
    }

    /// The name of the metadata with the ID of the file.
    private static let mark = "undo"

    /// The call that starts the countdown of the file with an ID.
    func start(_ id: String, _ ifRunning: IfRunning) -> Start {
        Start(
            key: key,
            ifRunning: ifRunning,
            label: label ?? commandLine,
            metadata: metadata.merging(CooldownMark.metadata).merging([Self.mark: id])
        )
    }

    /// Whether a countdown was started for the file with an ID.
    static func isOwn(_ countdown: Countdown, _ id: String) -> Bool { countdown.metadata?[mark] == id }

    /// When the change is undone, or why it was not.
    func state(_ clock: ClockText) -> String {
        let name = PrintableText.escape(name)
        guard let failure else { return "\(name) at \(clock.render(deadlineUSec)): \(commandLine)" }
        return "\(name) failed: \(PrintableText.escape(failure)); it is tried again: \(commandLine)"
    }

    /// The undo as it could be typed, as far as a label has room for it.
    var commandLine: String {
        let text = PrintableText.escape(words.map(ShellWord.quote).joined(separator: " "))
        return text.utf8.count <= 1_024 ? text : "\(text.prefix(250))…"
    }
}

extension UndoRecord: JSONEncodable, JSONDecodable {
    func encode(into writer: inout JSONWriter) {
        writer.member("version", Self.version)
        writer.member("stage", stage)
        writer.member("name", name)
        writer.member("words", words)
        writer.member("directory", directory)
        writer.member("path", path)
        writer.member("machine", machine)
        writer.member("boot", boot)
        writer.member("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.member("timeoutUSec", timeoutUSec)
        writer.memberIfPresent("label", label)
        writer.member("metadata", metadata)
        writer.memberIfPresent("failure", failure)
    }

    /// - Throws: the name of the member that is missing, unknown or invalid.
    init(from reader: inout JSONReader) throws(InvalidParameter) {
        var version = JSONMember<Int64>("version")
        var stage = JSONMember<Stage>("stage")
        var name = JSONMember<String>("name")
        var words = JSONMember<[String]>("words")
        var directory = JSONMember<String>("directory")
        var path = JSONMember<String>("path")
        var machine = JSONMember<String>("machine")
        var boot = JSONMember<String>("boot")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var timeoutUSec = JSONMember<Int64>("timeoutUSec")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var failure = JSONMember<String>("failure")
        try reader.members {
            version.read(&$0) || stage.read(&$0) || name.read(&$0) || words.read(&$0) || directory.read(&$0)
                || path.read(&$0) || machine.read(&$0) || boot.read(&$0) || deadlineUSec.read(&$0)
                || durationUSec.read(&$0) || timeoutUSec.read(&$0) || label.read(&$0) || metadata.read(&$0)
                || failure.read(&$0)
        }
        guard try version.required == Self.version else { throw InvalidParameter("version") }
        self.stage = try stage.required
        self.name = try name.required
        self.words = try words.required
        self.directory = try directory.required
        self.path = try path.required
        self.machine = try machine.required
        self.boot = try boot.required
        self.deadlineUSec = try deadlineUSec.required
        self.durationUSec = try durationUSec.optional
        self.timeoutUSec = try timeoutUSec.required
        self.label = try label.optional
        self.metadata = try metadata.required
        self.failure = try failure.optional
        guard !self.words.isEmpty else { throw InvalidParameter("words") }
    }
}

/// What is to be done about a file that no other process has locked.
enum UndoDecision: Equatable {
    /// The change is kept: remove the file.
    case remove
    /// Nothing before the next change of the countdown, or before the instant, in microseconds since 1970.
    case wait(until: Int64?)
    /// A client has moved the end of the countdown: note it in the file.
    case note
    /// The countdown is unknown, or another program has started the key: start it for the file.
    case start
    /// Undo the change.
    case undo

    /// - Parameters:
    ///   - record: the content of the file.
    ///   - id: the file's name.
    ///   - countdown: the countdown of its key; nil if the daemon knows none.
    ///   - now: microseconds since 1970.
    ///   - boot: the ID of this boot.
    init(_ record: UndoRecord, _ id: String, _ countdown: Countdown?, now: Int64, boot: String) {
        let hasPassed = record.deadlineUSec <= now
        if record.stage == .kept {
            self = .remove
        } else if let countdown, UndoRecord.isOwn(countdown, id) {
            // A machine without a clock battery begins a boot in the past. When its clock is set, the countdown keeps its remaining
            // time, so it would end late. Only a client changes the duration.
            let isLaterBoot = record.boot != boot
            switch countdown.state {
            case .finished, .cancelled: self = .undo
            case .paused: self = isLaterBoot ? .note : .wait(until: nil)
            case .running where isLaterBoot && countdown.durationUSec == record.durationUSec:
                self = hasPassed ? .undo : .wait(until: record.deadlineUSec)
            case .running: self = countdown.deadlineUSec == record.deadlineUSec ? .wait(until: nil) : .note
            }
        } else {
            self = hasPassed ? .undo : .start
        }
    }
}
