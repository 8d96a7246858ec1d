import IPC
import System

/// A button that counts down once it was pressed and its command has succeeded, and that takes no presses meanwhile. Its
/// countdown is the daemon's: it is found again wherever the button is shown.
struct CountdownButton: Equatable {
    /// The titles of a button.
    struct Titles: Equatable {
        /// Its title at first.
        var title = "Get code"
        /// Its title after an end; nil for the one from before the press.
        var again: String?
        /// Its title while it counts.
        var counting = SecondsFormat("{s} s")
        /// A line beside it while it counts.
        var sent: SecondsFormat?
    }

    enum Activity: Equatable {
        /// It is not known yet whether its countdown is running.
        case unknown
        /// It can be pressed.
        case idle
        /// The command runs.
        case running
        /// The command has succeeded, and the countdown is asked for.
        case starting
        case counting(Countdown)
    }

    let titles: Titles
    /// The command of a press; nil if there is none.
    let command: ShellCommand?
    /// The countdown that a press starts.
    let start: Start
    private(set) var phase = Activity.unknown
    /// The title of the button when it can be pressed; nothing that is shown while it counts becomes it.
    private(set) var title: String
    /// Whether the daemon is away: a press would run the command, and nothing would keep the next one from it.
    private var isLost = false
    /// Why the last press came to nothing.
    private(set) var failure: String?

    init(_ titles: Titles, command: ShellCommand?, start: Start) {
        self.titles = titles
        self.command = command
        self.start = start
        title = titles.title
    }

    /// Whether it takes a press.
    var isEnabled: Bool { phase == .idle && !isLost }

    /// Whether the command runs or the countdown is being started.
    var isBusy: Bool { phase == .running || phase == .starting }

    /// The countdown, while it counts.
    var countdown: Countdown? {
        guard case .counting(let countdown) = phase else { return nil }
        return countdown
    }

    /// Takes a press; nothing comes of it unless the button is enabled.
    mutating func press() -> [ScreenAction] {
        guard isEnabled else { return [] }
        failure = nil
        guard let command else { return begin() }
        phase = .running
        return [.run(command)]
    }

    /// Handles an event.
    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .told(let event): handle(event)
        case .notice(let notice): return handle(notice)
        case .answered(let request, let answer): handle(answer, to: request)
        case .ended(let ending): return handle(ending)
        case .key, .paste, .click, .focus: break
        }
        return []
    }
}

extension CountdownButton {
    private mutating func begin() -> [ScreenAction] {
        phase = .starting
        return [.call(.start(start))]
    }

    private mutating func handle(_ ending: CommandEnding) -> [ScreenAction] {
        guard phase == .running else { return [] }
        guard !ending.isSuccess else { return [.print(ending.lines)] + begin() }
        phase = .idle
        failure = ending.message(of: command?.name ?? "")
        return [.print(ending.lines.dropLast())]
    }

    private mutating func handle(_ event: Event) {
        if event.type == .synced, phase == .unknown { phase = .idle }
        guard event.key == start.key else { return }
        switch event.type {
        case .tick:
            guard case .counting(var countdown) = phase, let remaining = event.remainingUSec else { return }
            countdown.remainingUSec = remaining
            phase = .counting(countdown)
        case .finished, .cancelled: end()
        case .attached, .started, .restarted, .adjusted, .paused, .resumed: event.countdown.map { count($0) }
        case .synced, .heartbeat: break
        }
    }

    private mutating func handle(_ notice: EventStream.Notice) -> [ScreenAction] {
        switch notice {
        case .lost, .stillLost: isLost = true
        // One that ended and was forgotten meanwhile is not reported.
        case .back: return [.call(.get(key: start.key))]
        case .historyTrimmed, .trimmedAgain: if !isBusy { phase = .unknown }
        }
        return []
    }

    private mutating func handle(_ answer: Result<Countdown, CommandFailure>, to request: CountdownRequest) {
        if case .get = request { isLost = false }
        switch (request, answer) {
        case (_, .success(let countdown)): count(countdown)
        case (.get, .failure(let failure)): if failure.exitCode == .unknownKey { end() }
        case (_, .failure(let failure)):
            if phase == .starting { phase = .idle }
            self.failure = failure.sentence
        }
    }

    /// Counts, unless the countdown has ended. If another client starts it while the command runs, `Start` finds it.
    private mutating func count(_ countdown: Countdown) {
        guard [.running, .paused].contains(countdown.state) else { return end() }
        if let known = self.countdown, known.revision > countdown.revision { return }
        guard phase != .running else { return }
        failure = nil
        phase = .counting(countdown)
    }

    private mutating func end() {
        switch phase {
        case .counting: title = titles.again ?? title
        case .unknown, .idle: break
        case .running, .starting: return
        }
        phase = .idle
    }
}

extension CommandEnding {
    /// The message for a failed command: its last line of output, or how it ended.
    func message(of name: String) -> String {
        switch cause {
        case .notRun(let errno): return "cannot run \(quoted(name)): \(systemMessage(errno))"
        case .ended(.killed(let signal)): return lines.last ?? "\(quoted(name)) was killed by signal \(signal)"
        case .ended(.exited(let code)): return lines.last ?? "\(quoted(name)) failed with exit code \(code)"
        }
    }
}

/// A text with a place for the seconds that remain: `{s}`, or `{ss}` for two digits at least.
struct SecondsFormat: Equatable {
    private let pattern: String

    init(_ pattern: String) { self.pattern = PrintableText.escape(pattern, doublesBackslashes: false) }

    /// The text for a number of microseconds; a started second counts as whole.
    func render(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds / 1_000_000 + (microseconds % 1_000_000 > 0 ? 1 : 0))
        return pattern.substituting(twoDigits(seconds), for: "{ss}").substituting("\(seconds)", for: "{s}")
    }
}
