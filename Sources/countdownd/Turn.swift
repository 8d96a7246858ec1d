import CountdownCore
import Varlink

/// The work of one turn: done, to do, and the budgets.
struct Turn {
    /// A connection whose calls are carried out in this turn, and the savepoint of its session before them.
    struct Caller {
        let connection: Connection
        let savepoint: ServerSession.Savepoint
        let calls: Int
    }

    let now: Now
    /// The ends and changes of this turn, in the order of their revisions.
    var changes = Changes()
    /// What is needed to roll the calls' changes back.
    var applied: [Applied] = []
    var callers: [Caller] = []
    /// Why the store did not take the turn; calls that change something are refused with it.
    var failure: StoreFailure?
    /// Whether a budget was used up. The rest follows at once, in the next turn.
    var isCutShort = false

    /// The budgets at the beginning of the turn.
    let budget: (calls: Int, endings: Int, ticks: Int)
    var callsLeft: Int
    var endingsLeft: Int
    var ticksLeft: Int
    var entriesLeft: Int
    var compactionsLeft: Int

    /// The budgets are smaller if each change and each tick is matched against many patterns.
    init(at now: Now, limits: Limits, patternSteps: Int, clockStep: ClockStep?) {
        self.now = now
        changes.clockStep = clockStep
        let matched = max(1, limits.matchesInTurn / max(1, patternSteps))
        budget = (
            calls: min(limits.callsInTurn, matched),
            endings: min(limits.endsInTurn, matched),
            ticks: min(limits.ticksInTurn, matched)
        )
        (callsLeft, endingsLeft, ticksLeft) = budget
        entriesLeft = limits.entriesInTurn
        compactionsLeft = limits.compactionsInTurn
    }

    /// Reserves memory for as many changes as the last turn had.
    mutating func expect(changes count: Int) {
        changes.steps.reserveCapacity(count)
        applied.reserveCapacity(count)
    }
}

/// What the daemon has done since its start. `GetStatus` reports these counters.
struct Counters {
    /// How often the loop woke up, for whatever reason.
    var wakeUps = 0
    /// Iterations of the loop; a wake-up has one or more.
    var turns = 0
    var calls = 0
    /// Changes of countdowns, ends included.
    var changes = 0
    var endings = 0
    /// Ticks, counted once for each watcher that got one.
    var ticks = 0
    /// Events other than ticks, counted once for each watcher that got one.
    var events = 0
    /// Clients that were disconnected because they did not read.
    var slowPeers = 0
    /// Clients that were disconnected because all clients together had sent more than is kept.
    var hoardingPeers = 0
    /// The most bytes that all clients together had not read.
    var mostUnsentBytes = 0
    /// Connections that were closed without a reply because their user had too many.
    var excessPeers = 0
    /// How often the system clock was set.
    var clockSteps = 0
    /// The most that one turn did, for each budget.
    var mostCallsInTurn = 0
    var mostEndingsInTurn = 0
    var mostTicksInTurn = 0
    var mostEntriesInTurn = 0
    /// How often copying the store's log into the database was begun.
    var checkpoints = 0

    /// Notes how much of its budgets a turn has used.
    mutating func note(_ turn: Turn, of limits: Limits) {
        mostCallsInTurn = max(mostCallsInTurn, turn.budget.calls - turn.callsLeft)
        mostEndingsInTurn = max(mostEndingsInTurn, turn.budget.endings - turn.endingsLeft)
        mostTicksInTurn = max(mostTicksInTurn, turn.budget.ticks - turn.ticksLeft)
        mostEntriesInTurn = max(mostEntriesInTurn, limits.entriesInTurn - turn.entriesLeft)
    }

    var named: [String: Int] {
        [
            "wakeUps": wakeUps, "turns": turns, "calls": calls, "changes": changes, "endings": endings, "ticks": ticks,
            "events": events, "slowPeers": slowPeers, "hoardingPeers": hoardingPeers, "excessPeers": excessPeers,
            "mostUnsentBytes": mostUnsentBytes, "clockSteps": clockSteps, "checkpoints": checkpoints,
            "mostCallsInTurn": mostCallsInTurn, "mostEndingsInTurn": mostEndingsInTurn,
            "mostTicksInTurn": mostTicksInTurn, "mostEntriesInTurn": mostEntriesInTurn,
        ]
    }
}

/// The middle of a turn: expiry, and the store.
extension Daemon {
    /// Expires what is due. Expiries cannot fail, so they come first.
    func expireDue(_ turn: inout Turn) {
        while turn.endingsLeft > 0, let change = timetable.expireNext(at: turn.now) {
            turn.endingsLeft -= 1
            turn.changes.steps.append(change)
            counters.endings += 1
        }
        if timetable.isDue(at: turn.now) { turn.isCutShort = true }
    }

    /// Stores the turn. If that fails, the clients' changes are rolled back and their calls are answered again;
    /// expiries stand.
    func commitOrRollBack(_ turn: inout Turn) {
        guard !turn.changes.isEmpty else { return }
        do throws(StoreFailure) {
            try storage.commit(turn.changes, of: timetable, at: turn.now)
        } catch {
            turn.failure = error
            turn.changes.steps.removeLast(turn.applied.count)
            for applied in turn.applied.reversed() { timetable.undo(applied) }
            turn.applied = []
            storage.keep(turn.changes)
            answerAgain(&turn)
        }
        counters.changes += turn.changes.steps.count
    }

    /// Retries what could not be stored, or opening the store, if it is time.
    ///
    /// - Returns: the instant by the clocks as they are held from now on.
    func retryStorage(at now: Now) -> Now {
        storage.retry(timetable, at: now)
        guard !storage.isOpen, storage.isTimeToTry(at: now) else { return now }
        guard let opened = storage.openAtLast(at: now) else { return now }
        let offset = opened.offset ?? now.offset
        adopt(opened)
        return Now(boot: now.boot, offset: offset)
    }

    /// Continues with the content of a store that could not be opened at first.
    ///
    /// Nothing was changed until now. Clients that got revision 0 are disconnected; they reconnect and start
    /// over.
    private func adopt(_ opened: consuming OpenedStore) {
        for connection in connections.all where connection.isBusy {
            release(connection)
            connection.condition = .gone
            connections.markDirty(connection)
        }
        if let offset = opened.offset { clocks.hold(offset) }
        stepRevision = opened.stepRevision
        timetable = opened.timetable
        // Opening the store has noted it, with the store's revision.
        clockStep = nil
    }

    /// Removes ends that are too many or too old.
    func trim(_ turn: inout Turn) {
        storage.drop(timetable.compact(at: turn.now, budget: &turn.compactionsLeft))
        if turn.compactionsLeft == 0 { turn.isCutShort = true }
    }
}
