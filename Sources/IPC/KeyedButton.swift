public import CountdownControls
import System
import Varlink

/// A button that is bound to a key: a press holds the key, acts, and if that succeeds the button counts; if it fails, the key is
/// given back. The countdown is the daemon's, so a button that is shown again, also by another program, counts on.
///
/// It is a state machine without I/O. ``LiveButton`` makes its calls for a program with tasks.
public struct KeyedButton: Sendable {
    /// The countdown after a press.
    package let start: Start
    /// The time of the last input, on a clock that is not set.
    package var now = Duration.zero { didSet { known?.count(now - oldValue) } }
    private let leastHold: Int64
    private let sentence: @Sendable (ClientError) -> String
    private var control: CountdownButton
    /// The countdown as it was reported last, counted on since then; nil if it does not run.
    private var known: Countdown?
    /// The newest revision of a report: an older one arrives late.
    private var newest: Int64 = 0
    /// Whether the daemon has said whether the countdown is running.
    private var isSynced = false { didSet { updateAvailability() } }
    /// Whether the daemon is away, so that a press could not hold the key.
    public private(set) var isAway = false { didSet { updateAvailability() } }
    /// From a press until the key counts, or was given back.
    private var held: HeldAct?
    /// Why the act has failed; nil if it has succeeded, or has not ended.
    private var failed: String?

    /// A button that starts a countdown by the call. Without an act, it counts at once. The sentence is about a press that the
    /// daemon has refused.
    package init(
        _ titles: CountdownButton.Titles,
        start: Start,
        acts: Bool = true,
        sentence: @escaping @Sendable (ClientError) -> String = { $0.description }
    ) {
        self.start = start
        self.sentence = sentence
        leastHold = acts ? CooldownHold.Terms.leastHold : 0
        control = CountdownButton(titles)
        updateAvailability()
    }

    private mutating func updateAvailability() { control.isAvailable = isSynced && !isAway }
}

/// The picture of a button.
extension KeyedButton {
    /// The titles.
    public var titles: CountdownButton.Titles { control.titles }

    /// The title now.
    public var title: String { control.title(at: now) }

    /// The line beside it while it counts.
    public var message: String? { control.message(at: now) }

    /// Why the last press came to nothing.
    public var failure: String? { control.failure }

    /// Whether it takes a press.
    public var isEnabled: Bool { control.isEnabled(at: now) }

    /// Whether the key is being held, the act runs, or the countdown is being moved or given back.
    public var isBusy: Bool { control.state(at: now) == .sending }

    /// The countdown, while it counts.
    public var countdown: Countdown? { control.state(at: now) == .counting ? known : nil }

    /// How long until the title changes by itself; nil if only an input changes it.
    package var nextChange: Duration? { control.nextChange(after: now) }
}

/// The inputs of a button. The steps are to be carried out; instants are microseconds of the boot clock.
extension KeyedButton {
    /// Takes a press; nothing comes of it unless the button is enabled.
    package mutating func press() -> [HeldAct.Step] {
        guard control.press(at: now) else { return [] }
        failed = nil
        let held = HeldAct(start, leastHold: leastHold)
        self.held = held
        return held.beginning
    }

    /// A call of the steps has this result.
    package mutating func answer(_ answer: Result<Countdown, ClientError>, at instant: Int64) -> [HeldAct.Step] {
        switch answer {
        // Perhaps another button was pressed just before: this one counts with it.
        case .success(let countdown), .failure(.countdown(.alreadyRunning(let countdown, _))): learn(countdown)
        case .failure: break
        }
        return take(held?.answer(answer, at: instant) ?? [])
    }

    /// The act has ended, and has failed if there is a reason.
    package mutating func end(_ failure: String?, at instant: Int64) -> [HeldAct.Step] {
        failed = failure
        return take(held?.end(succeeded: failure == nil, at: instant) ?? [])
    }

    /// The instant of `wake` has come.
    package mutating func wake(at instant: Int64) -> [HeldAct.Step] { take(held?.wake(at: instant) ?? []) }

    private mutating func take(_ steps: [HeldAct.Step]) -> [HeldAct.Step] {
        for step in steps {
            switch step {
            case .refused(.countdown(.alreadyRunning)): finish(nil)
            case .refused(let error): finish(sentence(error))
            case .done: if let failed { finish(failed) } else { succeed() }
            case .call, .act, .wake: break
            }
        }
        return steps
    }

    private mutating func succeed() {
        held = nil
        if known != nil { show() }
        control.succeed()
    }

    private mutating func finish(_ failure: String?) {
        held = nil
        control.fail(failure)
        if known != nil { show() }
    }

    /// Takes a report of a watch of the key.
    package mutating func take(_ report: WatchEvent) {
        switch report {
        case .events(let events): for event in events { take(event) }
        case .lost, .stillLost: isAway = true
        case .recovered: isAway = false
        case .forgotten:
            known = nil
            if !isBusy { show() }
        case .historyTrimmed:
            isSynced = false
            (known, newest) = (nil, 0)
            control.forget()
        case .started, .current: break
        }
    }

    private mutating func take(_ event: Event) {
        if event.type == .synced { (isSynced, isAway) = (true, false) }
        guard event.key == start.key else { return }
        event.countdown.map { learn($0) }
    }

    /// Notes the countdown as it was reported. While the button is busy, it shows nothing of it.
    private mutating func learn(_ countdown: Countdown) {
        guard countdown.revision >= newest else { return }
        newest = countdown.revision
        known = countdown.hasNotEnded ? countdown : nil
        if !isBusy { show() }
    }

    private mutating func show() {
        guard let known else { return control.end() }
        control.count(.microseconds(known.remainingUSec), isPaused: known.state == .paused, at: now)
    }
}
