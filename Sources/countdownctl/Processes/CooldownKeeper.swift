import IPC
import System

/// Holds the key of a command's cooldown while the command runs: does the actions of a `CooldownHold`.
final class CooldownKeeper: CompanionWork {
    private let name: String
    private let daemon: DaemonEndpoint
    private let output: Output
    private let timer: BootTimer
    private var hold: CooldownHold
    private var request: PendingRequest?
    /// The instant that the timer is set to.
    private var wakeUp: Int64?
    private var hasExited = false
    private var isDone = false
    /// Why the last call failed; nil after an answer.
    private var lastFailure: CommandFailure?

    /// - Parameters:
    ///   - terms: the duration of the cooldown, and when it begins.
    ///   - countdown: the reply to the start that was received just now.
    ///   - timer: a timer that is not set.
    ///   - daemon: the daemon that was called.
    ///   - output: for reports of losses.
    init(
        _ terms: CooldownHold.Terms,
        started countdown: Countdown,
        timer: consuming BootTimer,
        daemon: DaemonEndpoint,
        output: Output
    ) {
        name = CountdownText.name(countdown)
        self.daemon = daemon
        self.output = output
        self.timer = timer
        hold = CooldownHold(terms, started: countdown, at: BootClock.now)
        perform(hold.beginning)
    }

    var descriptors: [Int32] { [timer.descriptor, request?.descriptor].compactMap(\.self) }

    func advance() {
        if let wakeUp, BootClock.now >= wakeUp { perform(hold.wake(at: BootClock.now)) }
        guard let answer = request?.answer() else { return }
        request = nil
        let now = BootClock.now
        switch answer {
        case .success(let countdown): answered(hold.receive(countdown, at: now))
        case .failure(let failure):
            if let action = failure.refusal.flatMap({ hold.refuse($0, at: now) }) {
                answered(action)
            } else {
                perform(fail(failure))
            }
        }
    }

    /// Moves the end of the countdown after the command, or gives the cooldown back, and waits until that is done.
    func finish(succeeded: Bool) {
        hasExited = true
        if let action = hold.exit(succeeded: succeeded, at: BootClock.now) { perform(action) }
        while !isDone {
            var set = PollSet()
            for descriptor in descriptors { set.add(descriptor) }
            set.wait()
            advance()
        }
    }

    private func answered(_ action: CooldownHold.Action) {
        lastFailure = nil
        perform(action)
    }

    private func perform(_ first: CooldownHold.Action) {
        var action = first
        setTimer(nil)
        while true {
            switch action {
            case .wait(let instant): return setTimer(instant)
            case .leave(let reason):
                isDone = true
                return report(reason)
            case .call(let call):
                do {
                    request = try PendingRequest(call, of: daemon)
                    return
                } catch {
                    action = fail(error)
                }
            }
        }
    }

    private func setTimer(_ instant: Int64?) {
        wakeUp = instant
        timer.set(instant)
    }

    /// Notes a failed call. A row of failed renewals is reported once.
    private func fail(_ failure: CommandFailure) -> CooldownHold.Action {
        if !hasExited, lastFailure == nil {
            output.warn("countdownctl: \(name): not renewed: \(failure.sentence); trying again")
        }
        lastFailure = failure
        return hold.fail(at: BootClock.now)
    }

    private func report(_ reason: CooldownHold.Reason) {
        let result = hasExited ? "its end was not moved" : "it is no longer held"
        switch reason {
        case .done: break
        case .ended(let state):
            output.say("\(name): \(state?.rawValue ?? "ended") while the command was running; \(result)")
        case .replaced: output.say("\(name): started again by another program; \(result)")
        case .unreachable:
            let sentence = lastFailure.map { ": \($0.sentence)" } ?? ""
            output.warn("countdownctl: \(name): the countdown may be unchanged after the command\(sentence)")
        }
    }
}
