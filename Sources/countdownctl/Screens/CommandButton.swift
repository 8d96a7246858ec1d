import CountdownControls
import IPC
import System
import Text

/// A button that runs a command and then starts a countdown, which is the daemon's: it is found again wherever the button is
/// shown.
///
/// The button is `run` with a screen: a press starts the countdown, which holds the key while the command runs, so that of all buttons
/// with the key one runs its command. If the command succeeds, the countdown counts from then on; if it fails, the key is given
/// back. It makes no calls itself: its owner does its actions, and reports their results.
struct CommandButton {
    /// Ticks say what remains, so for the button time stands still between them.
    private static let now = Duration.zero

    /// The command of a press; nil if a press only starts the countdown.
    let command: ShellCommand?
    /// The countdown after a press.
    let start: Start
    /// The countdown as it was reported last; nil if it does not run.
    private var known: Countdown?
    /// The newest revision of a report: an older one arrives late.
    private var newest: Int64 = 0
    /// Whether the daemon has said whether the countdown is running.
    private var isSynced = false { didSet { updateAvailability() } }
    /// Whether the daemon is away, so that a press could not hold the key.
    private var isLost = false { didSet { updateAvailability() } }
    private var control: CountdownButton
    /// Holds the key from the daemon's answer to a press until it has been given back or counts.
    private var hold: CooldownHold?
    /// How the command has ended; nil until then.
    private var ending: CommandEnding?

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

    /// Whether the countdown is being started, the command runs, or the countdown is being moved or given back.
    var isBusy: Bool { control.state(at: Self.now) == .sending }

    /// The countdown, while it counts.
    var countdown: Countdown? { control.state(at: Self.now) == .counting ? known : nil }

    /// Takes a press; nothing comes of it unless the button is enabled.
    mutating func press() -> [ScreenAction] {
        guard control.press(at: Self.now) else { return [] }
        guard command != nil else { return [.call(.start(start))] }
        var held = start
        (held.durationUSec, held.ifRunning) = (terms.hold, .fail)
        return [.call(.start(held))]
    }

    /// The countdown begins when the command has succeeded.
    private var terms: CooldownHold.Terms {
        CooldownHold.Terms(cooldown: start.durationUSec ?? 60_000_000, origin: .end)
    }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .told(let event): handle(event)
        case .notice(let notice, _): handle(notice)
        case .answered(let answer, let now): return handle(answer, at: now)
        case .ended(let ending, let now): return handle(ending, at: now)
        case .woken(let now): return perform(hold?.wake(at: now))
        case .key, .paste, .click, .focus: break
        }
        return []
    }

    private mutating func handle(_ event: Event) {
        if event.type == .synced { isSynced = true }
        guard event.key == start.key else { return }
        guard event.type == .tick else {
            event.countdown.map { learn($0) }
            return
        }
        guard let remaining = event.remainingUSec else { return }
        known?.remainingUSec = remaining
        if !isBusy { control.tick(.microseconds(remaining), at: Self.now) }
    }

    private mutating func handle(_ notice: WatchEvent) {
        switch notice {
        case .lost, .stillLost: isLost = true
        case .recovered: isLost = false
        case .forgotten: end()
        case .started, .events, .current: break
        case .historyTrimmed:
            isSynced = false
            (known, newest) = (nil, 0)
            control.forget()
        }
    }

    // MARK: Holding the key

    private mutating func handle(_ answer: Result<Countdown, CommandFailure>, at now: Int64) -> [ScreenAction] {
        if case .success(let countdown) = answer { learn(countdown) }
        guard hold != nil else { return begin(answer, at: now) }
        switch answer {
        case .success(let countdown): return perform(hold?.receive(countdown, at: now))
        case .failure(let failure):
            return perform(failure.refusal.flatMap { hold?.refuse($0, at: now) } ?? hold?.fail(at: now))
        }
    }

    /// The daemon has answered a press.
    private mutating func begin(_ answer: Result<Countdown, CommandFailure>, at now: Int64) -> [ScreenAction] {
        switch answer {
        case .success(let countdown):
            guard let command else {
                succeed()
                return []
            }
            let hold = CooldownHold(terms, started: countdown, at: now)
            self.hold = hold
            return [.run(command)] + perform(hold.beginning)
        case .failure(let failure):
            // Another button was pressed just before: this one counts with it.
            let other = StartRefusal(failure)?.countdown
            control.fail(other == nil ? failure.sentence : nil)
            other.map { learn($0) }
            return []
        }
    }

    private mutating func handle(_ ending: CommandEnding, at now: Int64) -> [ScreenAction] {
        guard hold != nil else { return [] }
        self.ending = ending
        let lines = ending.isSuccess ? ending.lines : ending.lines.dropLast()
        return [.print(lines)] + perform(hold?.exit(succeeded: ending.isSuccess, at: now))
    }

    private mutating func perform(_ action: CooldownHold.Action?) -> [ScreenAction] {
        switch action {
        case .wait(let instant): return [.wake(at: instant)]
        case .call(let call): return [.wake(at: nil), .call(call)]
        case .leave:
            if let ending { finish(ending) }
            return [.wake(at: nil)]
        case nil: return []
        }
    }

    /// The command has ended, and the countdown is as it shall be.
    private mutating func finish(_ ending: CommandEnding) {
        (hold, self.ending) = (nil, nil)
        guard !ending.isSuccess else { return succeed() }
        control.fail(ending.message(of: command?.name ?? ""))
        if known != nil { show() }
    }

    private mutating func succeed() {
        if known != nil { show() }
        control.succeed()
    }

    // MARK: The countdown

    /// Notes the countdown as it was reported. While the button is busy, it shows nothing of it.
    private mutating func learn(_ countdown: Countdown) {
        guard countdown.revision >= newest else { return }
        newest = countdown.revision
        known = countdown.hasNotEnded ? countdown : nil
        if !isBusy { show() }
    }

    private mutating func show() {
        guard let known else { return control.end() }
        control.count(.microseconds(known.remainingUSec), isPaused: known.state == .paused, at: Self.now)
    }

    private mutating func end() {
        known = nil
        if !isBusy { show() }
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
