import CountdownCore

/// What the daemon has done since it was started.
struct Counters {
    /// How often it was woken, by whatever.
    var wakeUps = 0
    /// Passes; a wake-up has one or more.
    var turns = 0
    var calls = 0
    /// Lifecycle steps, endings among them.
    var changes = 0
    var endings = 0
    /// Ticks, each counted once for each watcher that was told.
    var ticks = 0
    /// Events other than ticks, counted likewise.
    var events = 0
    /// Peers that were disconnected because they did not read.
    var slowPeers = 0
    /// Peers that were disconnected because they had filled the buffers for what is received.
    var hoardingPeers = 0
    /// The most that all peers together had not read.
    var mostUnsentBytes = 0
    /// Connections that were closed unanswered, because their user had too many.
    var excessPeers = 0
    /// Times that the system clock was set.
    var clockSteps = 0
    /// The most that one turn had to do, of each kind that has a portion.
    var mostCallsInTurn = 0
    var mostEndingsInTurn = 0
    var mostTicksInTurn = 0
    var mostEntriesInTurn = 0
    /// Times that the store's log was begun to be copied into the database.
    var checkpoints = 0

    /// Takes note of how much of its portions a turn has used.
    mutating func note(_ turn: Turn, of policy: Policy) {
        mostCallsInTurn = max(mostCallsInTurn, turn.portion.calls - turn.callsLeft)
        mostEndingsInTurn = max(mostEndingsInTurn, turn.portion.endings - turn.endingsLeft)
        mostTicksInTurn = max(mostTicksInTurn, turn.portion.ticks - turn.ticksLeft)
        mostEntriesInTurn = max(mostEntriesInTurn, policy.entriesInTurn - turn.entriesLeft)
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
