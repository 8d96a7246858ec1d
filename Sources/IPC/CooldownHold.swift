import System
import Varlink

/// The cooldown of a command, held while the command runs: a state machine without I/O.
///
/// The countdown ends by itself one hold after the last renewal, so nothing has to be done about a countdownctl that was
/// killed. A renewal, at half of the hold, sets the remaining time to the full hold again. When the command has exited, the
/// time that the renewals added is taken back, and what other programs added or took stays.
///
/// The owner does the action that a method returns, and reports its result. Instants are microseconds of the boot clock.
package struct CooldownHold: Sendable {
    /// The instant that a cooldown counts from.
    package enum Origin: String, Sendable, CaseIterable {
        case start
        case end
    }

    package struct Terms: Sendable {
        /// The least hold in microseconds: a client that is cut off for a moment can still renew in time.
        package static let leastHold: Int64 = 30_000_000

        /// The duration of the cooldown in microseconds.
        package var cooldown: Int64
        package var origin: Origin
        package var keepsOnFailure: Bool
        package var leastHold: Int64

        /// The remaining time after the start and after each renewal.
        package var hold: Int64 { max(cooldown, leastHold) }

        package init(
            cooldown: Int64,
            origin: Origin = .start,
            keepsOnFailure: Bool = false,
            leastHold: Int64 = Self.leastHold
        ) {
            self.cooldown = cooldown
            self.origin = origin
            self.keepsOnFailure = keepsOnFailure
            self.leastHold = leastHold
        }
    }

    package enum Action: Equatable {
        /// Call `wake` at this instant.
        case wait(until: Int64)
        /// Make the call, then report its result to `receive`, `refuse` or `fail`.
        case call(CountdownRequest)
        /// The key is left alone from now on.
        case leave(Reason)
    }

    package enum Reason: Equatable {
        /// Nothing remains to be done.
        case done
        /// The countdown has ended; the state is nil if the daemon no longer knows it.
        case ended(Countdown.State?)
        /// Another program has started the key again.
        case replaced
        /// The daemon could not be reached after the exit.
        case unreachable
    }

    private enum Pending {
        case renewal(Int64)
        case lookup
        /// The call after the exit; 0 for a cancellation.
        case last(Int64)
    }

    /// The attempts to reach the daemon after the exit, within about 1.5 s.
    package static let attemptsAfterExit = 5
    /// The attempts if a wait has to be kept, within about 25 s.
    private static let attemptsForWait = 9

    private let key: String
    private let startedUSec: Int64
    private var terms: Terms
    /// The revision of the last change that is known.
    private var revision: Int64
    /// The whole duration as the daemon gave it last.
    private var duration: Int64
    private var end: Int64
    private var isPaused = false
    /// The time that the start and the renewals added beyond the cooldown.
    private var added: Int64
    private var pending: Pending?
    /// The amounts of adjustments whose replies were lost: one of them may have been made.
    private var unanswered: [Int64] = []
    /// The calls that failed in a row.
    private var failures = 0
    private var attempts = Self.attemptsAfterExit
    private var exit: (instant: Int64, givesBack: Bool)?
    private var isLost = false

    /// Holds a countdown that was started for the duration `terms.hold`; `now` is the instant of the reply.
    package init(_ terms: Terms, started countdown: Countdown, at now: Int64) {
        self.terms = terms
        key = countdown.key
        startedUSec = countdown.startedUSec
        revision = countdown.revision
        duration = Self.bounded(countdown.durationUSec)
        end = now + Self.bounded(countdown.remainingUSec)
        added = duration - terms.cooldown
    }

    /// When the countdown ends unless it is renewed; nil while it cannot end by itself, and after the command.
    package var runsOut: Int64? { isPaused || isLost || exit != nil ? nil : end }

    /// The first action.
    package var beginning: Action { .wait(until: renewal) }

    /// The instant of `wait` has come.
    package mutating func wake(at now: Int64) -> Action {
        guard exit == nil else { return settle() }
        if isPaused { return lookUp() }
        guard now >= renewal else { return .wait(until: renewal) }
        let amount = now + terms.hold - end
        pending = .renewal(amount)
        return .call(.adjust(key: key, by: amount, ifRevision: revision))
    }

    /// Whether the countdown is not the one that was started, or has ended.
    package func isLost(to countdown: Countdown) -> Bool {
        countdown.revision > revision && (countdown.startedUSec != startedUSec || !countdown.hasNotEnded)
    }

    /// Another client has changed the countdown. Nil if there is nothing to do, or an answer is awaited.
    package mutating func look() -> Action? { isLost || exit != nil || pending != nil ? nil : lookUp() }

    package mutating func receive(_ countdown: Countdown, at now: Int64) -> Action {
        switch pending {
        case .last: return leave(.done)
        case .lookup, nil: break
        case .renewal(let amount):
            added += amount
            unanswered = []
        }
        return adopt(countdown, at: now)
    }

    /// The daemon refused the call. Nil if the error says nothing about the countdown: the call has failed.
    package mutating func refuse(_ error: CountdownError, at now: Int64) -> Action? {
        switch error {
        case .revisionMismatch(let countdown), .wrongState(let countdown): adopt(countdown, at: now)
        case .noSuchCountdown: lose(.ended(nil))
        default: nil
        }
    }

    /// The call failed, or has no answer; `isLast` if no attempt follows after the exit.
    package mutating func fail(at now: Int64, isLast: Bool = false) -> Action {
        switch pending {
        case .renewal(let amount), .last(let amount): unanswered.append(amount)
        case .lookup, nil: break
        }
        pending = nil
        failures += 1
        guard exit == nil else {
            guard !isLast, failures < attempts else { return leave(.unreachable) }
            return .wait(until: now + Backoff.delay(before: failures))
        }
        return .wait(until: now + min(Backoff.delay(before: failures), terms.hold / 8))
    }

    /// Replaces the cooldown by one that begins at the exit of the command, also if that fails.
    package mutating func wait(_ cooldown: Int64) {
        added += terms.cooldown - cooldown
        attempts = Self.attemptsForWait
        terms = Terms(cooldown: cooldown, origin: .end, keepsOnFailure: true, leastHold: terms.leastHold)
    }

    /// The command has exited. Nil if the answer to a call is to be awaited first.
    package mutating func exit(succeeded: Bool, at now: Int64) -> Action? {
        guard !isLost else { return .leave(.done) }
        exit = (now, !succeeded && !terms.keepsOnFailure)
        failures = 0
        return pending == nil ? settle() : nil
    }

    /// Within the range of the interface, so that sums cannot overflow.
    private static func bounded(_ microseconds: Int64) -> Int64 { min(max(microseconds, 0), 1 << 53) }

    private var renewal: Int64 { end - terms.hold / 2 }

    /// Takes over the countdown as it is now, if it is still the one that was started.
    private mutating func adopt(_ countdown: Countdown, at now: Int64) -> Action {
        guard countdown.startedUSec == startedUSec else { return lose(.replaced) }
        guard countdown.hasNotEnded else { return lose(.ended(countdown.state)) }
        // The difference shows whether a call whose reply was lost has changed it.
        let whole = Self.bounded(countdown.durationUSec)
        if let amount = unanswered.first(where: { duration + $0 == whole }) { added += amount }
        unanswered = []
        pending = nil
        if exit == nil { failures = 0 }
        revision = countdown.revision
        duration = whole
        end = now + Self.bounded(countdown.remainingUSec)
        isPaused = countdown.state == .paused
        guard exit == nil else { return settle() }
        return .wait(until: isPaused ? now + terms.hold / 2 : renewal)
    }

    /// Moves the end, or gives the cooldown back.
    private mutating func settle() -> Action {
        guard unanswered.isEmpty else { return lookUp() }
        guard !isPaused, let exit else { return leave(.done) }
        let others = duration - terms.cooldown - added
        if exit.givesBack, others <= 0 {
            pending = .last(0)
            return .call(.cancel(key: key, ifRevision: revision))
        }
        let kept = exit.givesBack ? 0 : terms.cooldown
        let amount =
            switch terms.origin {
            case .start: kept - terms.cooldown - added
            case .end: exit.instant + kept + others - end
            }
        guard amount != 0 else { return leave(.done) }
        pending = .last(amount)
        return .call(.adjust(key: key, by: amount, ifRevision: revision))
    }

    private mutating func lookUp() -> Action {
        pending = .lookup
        return .call(.get(key: key))
    }

    private mutating func lose(_ reason: Reason) -> Action {
        // A cooldown that is given back may be gone; an end whose reply was lost was made here.
        leave(exit != nil && (exit?.givesBack == true || !unanswered.isEmpty) ? .done : reason)
    }

    private mutating func leave(_ reason: Reason) -> Action {
        pending = nil
        isLost = true
        return .leave(reason)
    }
}

/// A call of the daemon whose answer is a countdown.
package enum CountdownRequest: Sendable, Equatable {
    case get(key: String)
    case start(Start)
    case pause(key: String)
    case resume(key: String)
    case cancel(key: String, ifRevision: Int64? = nil)
    /// Adds microseconds, or takes them.
    case adjust(key: String, by: Int64, ifRevision: Int64? = nil)

    /// The call.
    var method: any CountdownMethod {
        switch self {
        case .get(let key): Get(key: key)
        case .start(let start): start
        case .pause(let key): Pause(key: key)
        case .resume(let key): Resume(key: key)
        case .cancel(let key, let revision): Cancel(key: key, ifRevision: revision)
        case .adjust(let key, let amount, let revision): Adjust(key: key, byUSec: amount, ifRevision: revision)
        }
    }
}

/// A method whose reply has one countdown.
protocol CountdownMethod: Method {
    static func countdown(of reply: Reply) -> Countdown
}

extension CountdownMethod where Reply == CountdownReply {
    static func countdown(of reply: CountdownReply) -> Countdown { reply.countdown }
}

extension Get: CountdownMethod {}
extension Pause: CountdownMethod {}
extension Resume: CountdownMethod {}
extension Cancel: CountdownMethod {}
extension Adjust: CountdownMethod {}

extension Start: CountdownMethod {
    static func countdown(of reply: Reply) -> Countdown { reply.countdown }
}
