import IPC
import Text
import Varlink

/// A command that is run for each event of some types.
struct Hook {
    private enum HookCommand {
        /// A program and its arguments, with fields of the countdown filled in.
        case words([Template])
        /// A line for sh(1).
        case line(String)
    }

    /// The types that a command can be run for. A tick comes every second, and `synced` and `heartbeat` are of no
    /// countdown.
    static let types: [Event.Kind] = [
        .attached, .started, .restarted, .adjusted, .paused, .resumed, .finished, .cancelled,
    ]

    let types: Set<Event.Kind>
    /// The time before the end, in microseconds, at which the command runs too; nil for none.
    let before: Int64?
    /// How long the command may take, in microseconds.
    let timeout: Int64
    private let command: HookCommand

    /// Makes a hook for types whose names may be joined by commas. The command is a line for sh(1) with `shell`; both
    /// times are in microseconds.
    init(
        on names: [String],
        before: Int64? = nil,
        exec text: String,
        shell: Bool,
        timeout: Int64
    ) throws(CommandFailure) {
        types = try Self.types(names)
        if let before { guard before > 0 else { throw .usage("--before must be at least 1us") } }
        self.before = before
        guard timeout > 0 else { throw .usage("--exec-timeout must be at least 1us") }
        self.timeout = timeout
        if shell {
            command = .line(text)
        } else {
            var words: [Template] = []
            for word in try CommandLineText.words(text) { words.append(try Template(word)) }
            command = .words(words)
        }
    }

    private static func types(_ names: [String]) throws(CommandFailure) -> Set<Event.Kind> {
        var types: Set<Event.Kind> = []
        for name in names.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }) {
            guard let type = Event.Kind(rawValue: name), Self.types.contains(type) else {
                let known = Self.types.map(\.rawValue).joined(separator: ", ")
                throw .usage("invalid --on \(quoted(name)): use \(known)")
            }
            types.insert(type)
        }
        return types
    }

    /// The program and its arguments for an event.
    func words(for countdown: Countdown, clock: ClockText) -> [String] {
        switch command {
        case .words(let words): words.map { $0.render(countdown, clock: clock, for: .program) }
        // A shell command gets the fields in its environment: a label must not become a part of the script.
        case .line(let line): ["sh", "-c", line]
        }
    }
}

/// An event that a command runs for.
struct HookEvent {
    /// The event of the daemon; nil if the countdown will end soon.
    let event: Event?
    let countdown: Countdown

    init(_ event: Event?, _ countdown: Countdown) { (self.event, self.countdown) = (event, countdown) }

    private var name: String { event?.type.rawValue ?? "before" }

    /// The prefix of the variables with metadata.
    static let metadataPrefix = "COUNTDOWN_META_"

    /// The event in the environment of the command. Metadata whose name is not valid in the environment of a shell is left
    /// out.
    var variables: [(name: String, value: String)] {
        let metadata = (countdown.metadata ?? [:]).filter { $0.key.utf8.allSatisfy(Self.isNameByte) }
        return [
            ("COUNTDOWN_EVENT", name),
            ("COUNTDOWN_KEY", countdown.key),
            ("COUNTDOWN_LABEL", countdown.label ?? ""),
            ("COUNTDOWN_STATE", countdown.state.rawValue),
            ("COUNTDOWN_REMAINING_USEC", "\(countdown.remainingUSec)"),
            ("COUNTDOWN_DURATION_USEC", "\(countdown.durationUSec)"),
            ("COUNTDOWN_LATE_USEC", "\(event?.lateUSec ?? 0)"),
            ("COUNTDOWN_REVISION", "\(countdown.revision)"),
        ] + metadata.map { (Self.metadataPrefix + $0.key, $0.value) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || ShellWord.alphanumerics.contains(byte)
    }
}

extension HookEvent: JSONEncodable {
    /// An event of the interface; `before` has the same members.
    func encode(into writer: inout JSONWriter) {
        if let event { return event.encode(into: &writer) }
        writer.member("type", name)
        writer.member("key", countdown.key)
        writer.member("remainingUSec", countdown.remainingUSec)
        writer.member("countdown", countdown)
    }
}
