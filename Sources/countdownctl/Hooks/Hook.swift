import IPC

/// A command that is run for each event of some types.
struct Hook {
    private enum Command {
        /// Words that go to the program as they are, with what is known of the countdown in their places.
        case words([Template])
        /// A line for sh(1).
        case line(String)
    }

    /// The types that a command can be run for. A tick comes every second, and `synced` and `heartbeat` are of no
    /// countdown.
    static let types: [EventType] = [
        .attached, .started, .restarted, .adjusted, .paused, .resumed, .finished, .cancelled,
    ]

    let types: Set<EventType>
    /// How long the command may take, in microseconds.
    let timeout: Int64
    private let command: Command

    /// - Throws: what is wrong with what was typed.
    init(on names: [String], exec text: String, shell: Bool, timeout: Int64) throws(Failure) {
        types = try Self.types(names)
        guard timeout > 0 else { throw .usage("a command that may take no time cannot be run") }
        self.timeout = timeout
        if shell {
            command = .line(text)
        } else {
            var words: [Template] = []
            for word in try CommandLineText.words(text) { words.append(try Template(word)) }
            command = .words(words)
        }
    }

    private static func types(_ names: [String]) throws(Failure) -> Set<EventType> {
        var types: Set<EventType> = []
        for name in names.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }) {
            guard let type = EventType(rawValue: name), Self.types.contains(type) else {
                let known = Self.types.map(\.rawValue).joined(separator: ", ")
                throw .usage("\(quoted(name)) is no event to run a command on; there are \(known)")
            }
            types.insert(type)
        }
        return types
    }

    /// The program and its arguments for an event.
    func words(for countdown: Countdown, clock: ClockText) -> [String] {
        switch command {
        case .words(let words): words.map { $0.render(countdown, clock: clock, for: .program) }
        // A line gets all by its environment: what others wrote into a label is no part of the script.
        case .line(let line): ["sh", "-c", line]
        }
    }

    /// What the environment of the command says of an event.
    static func variables(of event: Event, _ countdown: Countdown) -> [(name: String, value: String)] {
        [
            ("COUNTDOWN_EVENT", event.type.rawValue),
            ("COUNTDOWN_KEY", countdown.key),
            ("COUNTDOWN_LABEL", countdown.label ?? ""),
            ("COUNTDOWN_STATE", countdown.state.rawValue),
            ("COUNTDOWN_REMAINING_USEC", "\(countdown.remainingUSec)"),
            ("COUNTDOWN_DURATION_USEC", "\(countdown.durationUSec)"),
            ("COUNTDOWN_LATE_USEC", "\(event.lateUSec ?? 0)"),
            ("COUNTDOWN_REVISION", "\(countdown.revision)"),
        ]
    }
}
