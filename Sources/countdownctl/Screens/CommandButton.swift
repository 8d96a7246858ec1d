import CountdownControls
import IPC
import System
import Text

/// A button that runs a command and then starts a countdown, which is the daemon's: it is found again wherever the button is
/// shown.
struct CommandButton: Equatable {
    /// Ticks say what remains, so for the button time stands still between them.
    private static let now = Duration.zero

    /// The command of a press; nil if a press only starts the countdown.
    let command: ShellCommand?
    /// The countdown that a press starts.
    let start: Start
    /// The countdown as it was reported last; nil if it does not run.
    private var known: Countdown?
    /// Whether the daemon has said whether the countdown is running.
    private var isSynced = false { didSet { updateAvailability() } }
    /// Whether the daemon is away: a press would run the command, and nothing would keep the next one from it.
    private var isLost = false { didSet { updateAvailability() } }
    private var control: CountdownButton

    init(_ titles: CountdownButton.Titles, command: ShellCommand?, start: Start) {
        self.command = command
        self.start = start
        control = CountdownButton(titles)
        updateAvailability()
    }

    private mutating func updateAvailability() { control.isAvailable = isSynced && !isLost }

    var titles: CountdownButton.Titles { control.titles }

    var title: String { control.title(at: Self.now) }

    /// The line beside it while it counts.
    var message: String? { control.message(at: Self.now) }

    /// Why the last press came to nothing.
    var failure: String? { control.failure }

    var isEnabled: Bool { control.isEnabled(at: Self.now) }

    /// Whether the command runs or the countdown is being started.
    var isBusy: Bool { control.state(at: Self.now) == .sending }

    /// The countdown, while it counts.
    var countdown: Countdown? { control.state(at: Self.now) == .counting ? known : nil }

    /// Takes a press; nothing comes of it unless the button is enabled.
    mutating func press() -> [ScreenAction] {
        guard control.press(at: Self.now) else { return [] }
        return [command.map(ScreenAction.run) ?? .call(.start(start))]
    }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .told(let event): handle(event)
        case .notice(let notice, _): handle(notice)
        case .answered(let answer): handle(answer)
        case .ended(let ending): return handle(ending)
        case .key, .paste, .click, .focus: break
        }
        return []
    }

    private mutating func handle(_ ending: CommandEnding) -> [ScreenAction] {
        guard isBusy else { return [] }
        guard !ending.isSuccess else { return [.print(ending.lines), .call(.start(start))] }
        control.fail(ending.message(of: command?.name ?? ""))
        return [.print(ending.lines.dropLast())]
    }

    private mutating func handle(_ event: Event) {
        if event.type == .synced { isSynced = true }
        guard event.key == start.key else { return }
        switch event.type {
        case .tick:
            guard let remaining = event.remainingUSec else { return }
            known?.remainingUSec = remaining
            control.tick(.microseconds(remaining), at: Self.now)
        case .finished, .cancelled: end()
        case .attached, .started, .restarted, .adjusted, .paused, .resumed: event.countdown.map { count($0) }
        case .synced, .heartbeat: break
        }
    }

    private mutating func handle(_ notice: WatchEvent) {
        switch notice {
        case .lost, .stillLost: isLost = true
        case .recovered: isLost = false
        case .forgotten: end()
        case .started, .events, .current: break
        case .historyTrimmed:
            isSynced = false
            known = nil
            control.forget()
        }
    }

    private mutating func handle(_ answer: Result<Countdown, CommandFailure>) {
        switch answer {
        case .success(let countdown):
            count(countdown)
            control.succeed()
        case .failure(let failure): control.fail(failure.sentence)
        }
    }

    /// Shows the countdown. It is ignored if it is older than the known one; if it has ended, the count ends.
    private mutating func count(_ countdown: Countdown) {
        guard [.running, .paused].contains(countdown.state) else { return end() }
        if let known, known.revision > countdown.revision { return }
        known = countdown
        let isPaused = countdown.state == .paused
        control.count(.microseconds(countdown.remainingUSec), isPaused: isPaused, at: Self.now)
    }

    private mutating func end() {
        known = nil
        control.end()
    }
}

extension CommandEnding {
    /// The message for a failed command: its last line of output, or how it ended.
    func message(of name: String) -> String {
        switch cause {
        case .notRun(let errno): "cannot run \(quoted(name)): \(systemMessage(errno))"
        case .ended(let ending): lines.last ?? "\(quoted(name)) \(ending.failure ?? "")"
        }
    }
}
