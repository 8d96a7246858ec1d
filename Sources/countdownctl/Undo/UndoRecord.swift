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
        /// The change is being undone: its undo was begun or asked for, and has not succeeded. What the countdown does no longer
        /// matters.
        case undoing
        /// The user keeps the change.
        case kept
    }

    var stage = Stage.prepared
    /// The key without `undo/`.
    let name: String
    /// The program that undoes the change, and its arguments, as they were typed.
    let words: [String]
    /// The path of the program, as the call found it.
    let program: String
    /// The working directory of the undo.
    let directory: String
    /// The `PATH` of the undo, without relative entries.
    let path: String
    let machine: String
    /// The boot in which the deadline was noted.
    var boot: String
    /// The end of the countdown, in microseconds since 1970, and its duration when the end was noted.
    var deadlineUSec: Int64
    var durationUSec: Int64?
    /// The remaining time of its countdown if that is paused, in microseconds.
    var pausedUSec: Int64?
    /// How long the undo may take, in microseconds.
    let timeoutUSec: Int64
    /// The label and the metadata of the countdown.
    var label: String?
    var metadata: TextMap<String> = [:]
    /// Why the last attempt to undo the change failed; nil if there was none.
    var failure: String?

    /// The beginning of the keys.
    static let prefix = ChangeMark.prefix

    var key: String { Self.prefix + name }

    /// The name of a change, which may be typed as the key of its countdown.
    static func name(typed: String) -> String {
        // As bytes: a combining mark behind the slash would be a part of it.
        typed.utf8.starts(with: prefix.utf8) ? String(Substring(typed.utf8.dropFirst(prefix.utf8.count))) : typed
    }

    /// Whether another call makes the same change: with the same undo in the same directory.
    func isSameChange(as other: UndoRecord) -> Bool {
        words.count == other.words.count && zip(words, other.words).allSatisfy { $0.hasSameBytes(as: $1) }
            && program.hasSameBytes(as: other.program) && directory.hasSameBytes(as: other.directory)
    }

    /// Takes over the end of its countdown.
    mutating func note(_ countdown: Countdown, now: Int64, boot: String) {
        deadlineUSec = countdown.deadlineUSec ?? now + countdown.remainingUSec
        durationUSec = countdown.durationUSec
        pausedUSec = countdown.state == .paused ? countdown.remainingUSec : nil
        self.boot = boot
    }

    /// The name of the metadata with the ID of the file.
    static let mark = "undo"

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
        if let failure { return "\(name) failed: \(PrintableText.escape(failure)); it is tried again: \(commandLine)" }
        if stage == .undoing { return "\(name) now: \(commandLine)" }
        if let pausedUSec { return "\(name) \(DurationFormat.rounded(pausedUSec)) after resume: \(commandLine)" }
        return "\(name) at \(clock.render(deadlineUSec)): \(commandLine)"
    }

    /// That another machine's change with this ID is not undone here, and the command that removes its file.
    func foreignState(_ id: String) -> String {
        let fault = "\(PrintableText.escape(name)) is left alone: another /etc/machine-id was here when it was changed"
        return "\(fault); `rm ~/.local/state/countdown-undo/\(id)` keeps it: \(commandLine)"
    }

    /// The undo as it could be typed, as far as a label has room for it.
    var commandLine: String {
        PrintableText.escape(words.map(ShellWord.quote).joined(separator: " ")).shortened(toBytes: 1_024)
    }
}

extension String {
    /// The text, or as much of its beginning as fits into a number of bytes together with an ellipsis.
    func shortened(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let ellipsis = "…"
        var end = utf8.index(startIndex, offsetBy: max(0, limit - ellipsis.utf8.count))
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return self[..<end] + ellipsis
    }

    /// Whether both are the same bytes. `==` is also true for different bytes that Unicode calls equivalent.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension UndoRecord: JSONEncodable, JSONDecodable {
    func encode(into writer: inout JSONWriter) {
        writer.member("version", Self.version)
        writer.member("stage", stage)
        writer.member("name", name)
        writer.member("words", words)
        writer.member("program", program)
        writer.member("directory", directory)
        writer.member("path", path)
        writer.member("machine", machine)
        writer.member("boot", boot)
        writer.member("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("pausedUSec", pausedUSec)
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
        var program = JSONMember<String>("program")
        var directory = JSONMember<String>("directory")
        var path = JSONMember<String>("path")
        var machine = JSONMember<String>("machine")
        var boot = JSONMember<String>("boot")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var pausedUSec = JSONMember<Int64>("pausedUSec")
        var timeoutUSec = JSONMember<Int64>("timeoutUSec")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var failure = JSONMember<String>("failure")
        try reader.members {
            version.read(&$0) || stage.read(&$0) || name.read(&$0) || words.read(&$0) || program.read(&$0)
                || directory.read(&$0) || path.read(&$0) || machine.read(&$0) || boot.read(&$0)
                || deadlineUSec.read(&$0) || durationUSec.read(&$0) || pausedUSec.read(&$0) || timeoutUSec.read(&$0)
                || label.read(&$0) || metadata.read(&$0) || failure.read(&$0)
        }
        guard try version.required == Self.version else { throw InvalidParameter("version") }
        self.stage = try stage.required
        self.name = try name.required
        self.words = try words.required
        // Earlier files have none.
        self.program = try program.optional ?? self.words.first ?? ""
        self.directory = try directory.required
        self.path = try path.required
        self.machine = try machine.required
        self.boot = try boot.required
        self.deadlineUSec = try deadlineUSec.required
        self.durationUSec = try durationUSec.optional
        self.pausedUSec = try pausedUSec.optional
        self.timeoutUSec = try timeoutUSec.required
        self.label = try label.optional
        self.metadata = try metadata.required
        self.failure = try failure.optional
        guard !self.words.isEmpty else { throw InvalidParameter("words") }
    }
}
