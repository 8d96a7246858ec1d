import Glibc
import System
import Varlink

/// An act of a program under a key, as a state machine without I/O. The key is held before the act; if the act succeeds, the
/// key counts from then on, and if it fails, the key is given back.
///
/// Its owner carries out the steps, in their order, and reports the results. Instants are microseconds of the boot clock.
package struct HeldAct: Sendable {
    package enum Step: Sendable, Equatable {
        /// Make the call, then report its result to `answer`.
        case call(CountdownRequest)
        /// Run the act, then report its end to `end`.
        case act
        /// Call `wake` at this instant, which replaces the one before; nil for none.
        case wake(at: Int64?)
        /// The key is not held, and nothing follows.
        case refused(ClientError)
        /// The act has ended and the key is as it shall be. Nothing follows.
        case done
    }

    private let terms: CooldownHold.Terms
    private let start: Start
    /// Nil until the key is held.
    private var hold: CooldownHold?
    private var failures = 0
    private var hasEnded = false

    /// Holds the key of a call. The key counts for the call's duration after the act, and is held at least for `leastHold`
    /// microseconds at a time. The token, which is in the metadata, shows that a start was made whose answer was lost.
    package init(
        _ call: Start,
        leastHold: Int64 = CooldownHold.Terms.leastHold,
        token: String = FollowState.randomToken
    ) {
        terms = CooldownHold.Terms(cooldown: call.durationUSec ?? 60_000_000, origin: .end, leastHold: leastHold)
        var held = call
        (held.durationUSec, held.ifRunning) = (terms.hold, .fail)
        held.metadata = (call.metadata ?? [:]).merging([FollowState.tokenName: token])
        start = held
    }

    /// The first steps.
    package var beginning: [Step] { [.call(.start(start))] }

    /// The last call has this result.
    package mutating func answer(_ answer: Result<Countdown, ClientError>, at now: Int64) -> [Step] {
        guard hold != nil else { return begin(answer, at: now) }
        switch answer {
        case .success(let countdown): return steps(hold?.receive(countdown, at: now))
        case .failure(.countdown(let error)):
            return steps(hold?.refuse(error, at: now) ?? hold?.fail(at: now))
        case .failure: return steps(hold?.fail(at: now))
        }
    }

    /// The instant of `wake` has come.
    package mutating func wake(at now: Int64) -> [Step] {
        guard hold != nil else { return [.wake(at: nil)] + beginning }
        return steps(hold?.wake(at: now))
    }

    /// The act has ended.
    package mutating func end(succeeded: Bool, at now: Int64) -> [Step] {
        hasEnded = true
        return steps(hold?.exit(succeeded: succeeded, at: now))
    }

    private mutating func begin(_ answer: Result<Countdown, ClientError>, at now: Int64) -> [Step] {
        switch answer {
        case .success(let countdown): return hold(countdown, at: now)
        case .failure(.countdown(.alreadyRunning(let countdown, _))) where isOwn(countdown):
            return hold(countdown, at: now)
        case .failure(let error):
            // A start can only be recognized if it was made without an answer.
            let isTemporary = failures == 0 ? error.isLostConnection : error.isTemporaryOfStart
            failures += 1
            guard isTemporary, failures < CooldownHold.attemptsAfterExit else { return [.refused(error)] }
            return [.wake(at: now + Backoff.delay(before: failures))]
        }
    }

    private func isOwn(_ countdown: Countdown) -> Bool {
        countdown.metadata?[FollowState.tokenName] == start.metadata?[FollowState.tokenName]
    }

    private mutating func hold(_ countdown: Countdown, at now: Int64) -> [Step] {
        let hold = CooldownHold(terms, started: countdown, at: now)
        self.hold = hold
        return steps(hold.beginning) + [.act]
    }

    private func steps(_ action: CooldownHold.Action?) -> [Step] {
        switch action {
        case .wait(let instant): [.wake(at: instant)]
        case .call(let call): [.wake(at: nil), .call(call)]
        case .leave: [.wake(at: nil)] + (hasEnded ? [.done] : [])
        case nil: []
        }
    }
}

extension ClientError {
    /// Whether the connection has ended before the answer. A daemon that does not answer in time is not asked again at once.
    fileprivate var isLostConnection: Bool {
        switch self {
        case .disconnected: true
        case .failed(let code): code != ETIMEDOUT
        default: false
        }
    }
}
