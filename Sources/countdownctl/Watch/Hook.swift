import Glibc
import IPC
import System

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
    static let types: [EventType] = [
        .attached, .started, .restarted, .adjusted, .paused, .resumed, .finished, .cancelled,
    ]

    let types: Set<EventType>
    /// How long the command may take, in microseconds.
    let timeout: Int64
    private let command: HookCommand

    /// - Throws: a usage error.
    init(on names: [String], exec text: String, shell: Bool, timeout: Int64) throws(CommandFailure) {
        types = try Self.types(names)
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

    private static func types(_ names: [String]) throws(CommandFailure) -> Set<EventType> {
        var types: Set<EventType> = []
        for name in names.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }) {
            guard let type = EventType(rawValue: name), Self.types.contains(type) else {
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

    /// The event in the environment of the command.
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

/// Runs commands for events, in their order: with a limit on how many run at once and how long each may run.
final class HookRunner: BackgroundWork {
    /// The number of commands that run at once.
    static let limit = 8
    /// The number of events that wait; later events are skipped with a warning.
    static let queueLimit = 1_000
    /// The time between SIGTERM and SIGKILL, in microseconds.
    private static let grace: Int64 = 2_000_000

    private struct Run {
        let process: StartedProcess
        let name: String
        var end: MonotonicDeadline
        /// Whether it was asked to end.
        var isLate = false
    }

    private let hook: Hook
    private let output: Output
    private var running: [Run] = []
    private var queue: [Event] = []

    init(_ hook: Hook, output: Output) {
        self.hook = hook
        self.output = output
    }

    /// The first deadline of a command.
    var deadline: MonotonicDeadline? { running.map(\.end).min { $0.monotonicUSec < $1.monotonicUSec } }

    /// Queues the events that commands run for, and starts commands.
    func enqueue(_ events: [Event]) {
        let wanted = events.filter { hook.types.contains($0.type) && $0.countdown != nil }
        let room = Self.queueLimit - queue.count
        queue += wanted.prefix(room)
        if wanted.count > room {
            output.warn("countdownctl: \(wanted.count - room) events were skipped: too many commands are waiting")
        }
        advance()
    }

    /// Reaps ended commands, terminates commands that timed out, and starts waiting ones.
    func advance() {
        running = running.compactMap(advanced)
        while running.count < Self.limit, !queue.isEmpty { start(queue.removeFirst()) }
    }

    /// Terminates all running commands.
    func terminate() {
        for run in running { run.process.sendToGroup(SIGTERM) }
    }

    /// Nil if it has ended.
    private func advanced(_ run: Run) -> Run? {
        if let ending = run.process.ending() {
            if !run.isLate { report(ending, run) }
            return nil
        }
        guard run.end.remainingUSec == 0 else { return run }
        var run = run
        if !run.isLate { output.warn("countdownctl: \(quoted(run.name)) timed out and was terminated") }
        run.process.sendToGroup(run.isLate ? SIGKILL : SIGTERM)
        run.isLate = true
        run.end = .after(microseconds: Self.grace)
        return run
    }

    private func report(_ ending: ProcessEnding, _ run: Run) {
        switch ending {
        case .exited(code: 0): break
        case .exited(let code): output.warn("countdownctl: \(quoted(run.name)) failed with exit code \(code)")
        case .killed(let signal): output.warn("countdownctl: \(quoted(run.name)) was killed by signal \(signal)")
        }
    }

    private func start(_ event: Event) {
        guard let countdown = event.countdown else { return }
        let words = hook.words(for: countdown, clock: .local)
        do {
            let process = try launch(words, event, countdown)
            running.append(Run(process: process, name: words[0], end: .after(microseconds: hook.timeout)))
        } catch {
            output.warn("countdownctl: \(CommandFailure(error).sentence)")
        }
    }

    private func launch(
        _ words: [String],
        _ event: Event,
        _ countdown: Countdown
    ) throws(ProcessLaunch.NotStarted) -> StartedProcess {
        guard let pipe = Pipe() else { throw ProcessLaunch.NotStarted(name: words[0], errno: errno) }
        // An event is far smaller than a pipe's buffer, so this never blocks.
        pipe.writing.stopBlocking()
        let text = JSONText.object(event, .short) + [UInt8(ascii: "\n")]
        _ = unsafe text.withUnsafeBytes { unsafe write(pipe.writing.descriptor, $0.baseAddress, $0.count) }
        var launch = ProcessLaunch(words: words)
        launch.variables = Hook.variables(of: event, countdown)
        launch.input = pipe.reading.descriptor
        // Standard output is for the lines of the watch alone.
        launch.output = STDERR_FILENO
        launch.hasOwnGroup = true
        return try launch.start()
    }
}
