import Glibc
import IPC
import System

/// Holds the key of a command's cooldown while the command runs: does the actions of a `CooldownHold`.
final class CooldownKeeper {
    private let name: String
    private let daemon: DaemonEndpoint
    private let output: Output
    private let timer: BootTimer
    private var hold: CooldownHold
    private var request: PendingCall<Countdown>?
    /// When the request counts as failed.
    private var patienceEnd: Int64?
    /// When the hold is to be woken.
    private var wakeUp: Int64?
    /// The signal for the command if the hold is lost; nil for none, and after it was sent.
    private var lossSignal: Int32?
    /// Notices at once that another program has ended the countdown or started it again; nil without a signal.
    private var watch: WatchConnection?
    private var hasExited = false
    private var isDone = false
    /// Why the last call failed; nil after an answer.
    private var lastFailure: ClientError?

    /// Holds a countdown whose reply was received just now, with a timer that is not set. If the hold is lost, the
    /// command gets the signal.
    init(
        _ terms: CooldownHold.Terms,
        started countdown: Countdown,
        timer: consuming BootTimer,
        daemon: DaemonEndpoint,
        output: Output,
        lossSignal: Int32? = nil
    ) {
        self.lossSignal = lossSignal
        if lossSignal != nil {
            watch = WatchConnection(ResumableWatch(KeySelection(keys: [countdown.key]), tick: 0), at: daemon.path)
        }
        name = CountdownText.name(countdown)
        self.daemon = daemon
        // The renewals must not wait for a reader of messages.
        self.output = output.impatient
        self.timer = timer
        hold = CooldownHold(terms, started: countdown, at: BootClock.now)
        perform(hold.beginning)
    }

    /// The descriptors that become readable when there is something to do.
    var descriptors: [Int32] { [timer.descriptor, request?.descriptor, watch?.descriptor].compactMap(\.self) }

    /// Handles readable descriptors, without waiting. Returns a signal for the command, if it is to get one.
    func advance() -> Int32? {
        if let wakeUp, BootClock.now >= wakeUp { perform(hold.wake(at: BootClock.now)) }
        if let answer = request?.result() {
            request = nil
            take(answer)
        } else if let patienceEnd, BootClock.now >= patienceEnd {
            request = nil
            perform(fail(.failed(errno: ETIMEDOUT), isLast: true))
        }
        follow()
        let signal = takeLossSignal()
        setTimer()
        return signal
    }

    /// Looks the countdown up if the watch says that it is lost.
    private func follow() {
        guard let current = watch else { return }
        // If the daemon refuses the watch, the renewals notice a loss.
        guard lossSignal != nil, !hasExited, let events = try? current.advance() else {
            watch = nil
            return
        }
        for case .events(let changes) in events {
            let isLost = changes.compactMap(\.countdown).contains(where: hold.isLost(to:))
            if isLost, let action = hold.look() { perform(action) }
        }
    }

    /// The signal for the command when its hold was lost or may have been, once.
    private func takeLossSignal() -> Int32? {
        let hasRunOut = hold.runsOut.map { BootClock.now >= $0 } ?? isDone
        guard let signal = lossSignal, !hasExited, hasRunOut else { return nil }
        lossSignal = nil
        output.warn("countdownctl: \(name): the hold is lost; the command gets signal \(signal)")
        return signal
    }

    private func take(_ answer: Result<Countdown, ClientError>) {
        let now = BootClock.now
        switch answer {
        case .success(let countdown): answered(hold.receive(countdown, at: now))
        case .failure(let error):
            if case .countdown(let refusal) = error, let action = hold.refuse(refusal, at: now) {
                answered(action)
            } else {
                perform(fail(error))
            }
        }
    }

    /// Moves the end of the countdown after the command, or gives the cooldown back, and waits until that is done.
    /// After a failure with a wait, the cooldown lasts for it from now on, in microseconds, instead of being given
    /// back.
    func finish(succeeded: Bool, waiting wait: Int64? = nil) {
        hasExited = true
        if let wait { hold.wait(wait) }
        if let action = hold.exit(succeeded: succeeded, at: BootClock.now) { perform(action) }
        while !isDone {
            var set = PollSet()
            for descriptor in descriptors { set.add(descriptor) }
            set.wait()
            _ = advance()
        }
    }

    private func answered(_ action: CooldownHold.Action) {
        lastFailure = nil
        perform(action)
    }

    private func perform(_ first: CooldownHold.Action) {
        var action = first
        (wakeUp, patienceEnd) = (nil, nil)
        defer { setTimer() }
        while true {
            switch action {
            case .wait(let instant):
                wakeUp = instant
                return
            case .leave(let reason):
                isDone = true
                return report(reason)
            case .call(let call):
                do {
                    request = try daemon.send(call)
                    patienceEnd = BootClock.now + DaemonEndpoint.patience
                    return
                } catch {
                    action = fail(error)
                }
            }
        }
    }

    private func setTimer() {
        let end = lossSignal == nil ? nil : hold.runsOut
        let attempt = watch?.deadline.map { BootClock.now + $0.remainingUSec }
        timer.set([wakeUp, patienceEnd, end, attempt].compactMap(\.self).min())
    }

    /// Notes a failed call. A row of failed renewals is reported once.
    private func fail(_ error: ClientError, isLast: Bool = false) -> CooldownHold.Action {
        if !hasExited, lastFailure == nil {
            output.warn("countdownctl: \(name): not renewed: \(CommandFailure(error).sentence); trying again")
        }
        lastFailure = error
        return hold.fail(at: BootClock.now, isLast: isLast)
    }

    private func report(_ reason: CooldownHold.Reason) {
        let result = hasExited ? "its end was not moved" : "it is no longer held"
        switch reason {
        case .done: break
        case .ended(let state):
            output.say("\(name): \(state?.rawValue ?? "ended") while the command was running; \(result)")
        case .replaced: output.say("\(name): started again by another program; \(result)")
        case .unreachable:
            let sentence = lastFailure.map { ": \(CommandFailure($0).sentence)" } ?? ""
            output.warn("countdownctl: \(name): the countdown may be unchanged after the command\(sentence)")
        }
    }
}
