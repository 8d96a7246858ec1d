import CountdownCore
import Varlink

/// What one pass of the daemon has to do, has done, and may still do.
struct Turn {
    /// A peer whose calls are carried out in this turn, as its session was before them.
    struct Caller {
        let peer: Peer
        let savepoint: ServerSession.Savepoint
        let calls: Int
    }

    let now: Now
    /// The endings and changes of this turn, in the order of their revisions.
    var changes = Changes()
    /// What it takes to take the calls' changes back.
    var applied: [Applied] = []
    var callers: [Caller] = []
    /// Why the store did not take the turn, where it did not: what asks for a change is refused then.
    var failure: StoreFailure?
    /// Whether a portion was used up: the rest follows in the next turn, at once.
    var isCutShort = false

    /// What the turn may carry out, at first.
    let portion: (calls: Int, endings: Int, ticks: Int)
    var callsLeft: Int
    var endingsLeft: Int
    var ticksLeft: Int
    var entriesLeft: Int
    var compactionsLeft: Int

    /// The more it takes to match each change and each tick against patterns, the smaller is the turn.
    init(at now: Now, policy: Policy, patternSteps: Int, clockStep: ClockStep?) {
        self.now = now
        changes.clockStep = clockStep
        let matched = max(1, policy.matchesInTurn / max(1, patternSteps))
        portion = (
            calls: min(policy.callsInTurn, matched),
            endings: min(policy.endsInTurn, matched),
            ticks: min(policy.ticksInTurn, matched)
        )
        (callsLeft, endingsLeft, ticksLeft) = portion
        entriesLeft = policy.entriesInTurn
        compactionsLeft = policy.compactionsInTurn
    }

    /// Makes room for so many changes at once, as they come in numbers that are alike from turn to turn.
    mutating func expect(changes count: Int) {
        changes.steps.reserveCapacity(count)
        applied.reserveCapacity(count)
    }
}
