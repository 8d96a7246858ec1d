import CountdownCore
import Fleet
import Varlink

/// The work of one turn: done, to do, and the budgets.
struct Turn: ~Copyable {
    let now: Now
    /// The ends and changes of this turn, in the order of their revisions.
    var changes = Changes()
    /// The state that must be kept to undo the changes that calls and queued starts have made.
    var applied: [Applied] = []
    private(set) var tickets: [Ticket] = []
    /// The connections with a ticket of a call that may wait: the calls behind it wait until the turn is stored.
    private(set) var heldUp: [Connection] = []
    /// Whether starts are queued. Reading it here costs less than asking the daemon's queue for each call.
    var hasQueuedStarts = false
    /// The results of calls that have waited, in a queue or for the engine of a fleet. They are answered once the turn is stored.
    var results: [(call: ConnectionCall, result: CallResult)] = []
    /// How many of them, the first ones, are queued starts that were served because time has passed, not because of a call.
    var servedByTime = 0
    /// The stream that a member of a fleet needs from now on; nil if the present one is.
    var opening: LogCursor.Opening?
    /// Whether changes may be missing, so that all watches end.
    var endsWatches = false
    /// Whether the engine's clock was set, so that a member of a fleet goes on in the next turn.
    var waitsForClock = false
    /// Why the store cannot be opened, so that no countdown is known yet: calls about countdowns are refused with it.
    var openFailure: StoreFailure?
    /// Whether a budget was used up. The rest follows at once, in the next turn.
    var isCutShort = false

    /// The calls that were carried out.
    var calls = 0
    /// The countdowns that have ended because their time had come.
    private(set) var ends = 0

    /// The connections that share the calls of a turn, if each sends many.
    static let connectionsInTurn = 4
    /// The bytes of a reply about a countdown without a text.
    private static let plainReplyBytes = 512
    /// How many bytes of a stored text, or of a reply, take as long as a byte of a call at worst.
    private static let textBytesPerCallByte = 4
    /// How many bytes of a stored text take as long as an end, and as an entry of a scan.
    private static let (textBytesPerEnd, textBytesPerEntry) = (256, 512)

    /// The budgets at the beginning of the turn.
    let budget: (calls: Int, endings: Int, ticks: Int, servedStarts: Int)
    var callsLeft: Int
    /// Below zero after the call that used the budget up.
    var callBytesLeft: Int
    private(set) var endingsLeft: Int
    var ticksLeft: Int
    var servedStartsLeft: Int
    var entriesLeft: Int
    var compactionsLeft: Int
    var fleetEntriesLeft: Int
    var fleetKeysLeft: Int

    /// The budgets are smaller if each change and each tick is matched against many patterns.
    init(at now: Now, limits: Limits, patternSteps: Int, clockStep: ClockStep?) {
        self.now = now
        changes.clockStep = clockStep
        let matched = max(1, limits.matchesInTurn / max(1, patternSteps))
        budget = (
            calls: min(limits.callsInTurn, matched),
            endings: min(limits.endsInTurn, matched),
            ticks: min(limits.ticksInTurn, matched),
            servedStarts: min(limits.servedStartsInTurn, matched)
        )
        (callsLeft, endingsLeft, ticksLeft, servedStartsLeft) = budget
        entriesLeft = limits.entriesInTurn
        compactionsLeft = limits.compactionsInTurn
        callBytesLeft = limits.callBytesInTurn
        fleetEntriesLeft = min(limits.fleetEntriesInTurn, matched)
        fleetKeysLeft = min(limits.fleetKeysInTurn, matched)
    }

    /// Whether the budgets that one call can exceed allow another call.
    var canAnswerMore: Bool { callBytesLeft > 0 && servedStartsLeft > 0 }

    /// Counts the bytes of a reply to a call, beyond those that every reply has.
    @inline(__always)
    mutating func count(reply bytes: Int) {
        guard bytes > Self.plainReplyBytes else { return }
        callBytesLeft -= (bytes - Self.plainReplyBytes) / Self.textBytesPerCallByte
    }

    /// Counts the text of a countdown that a call has changed. The text of a start was counted with the bytes of its call.
    @inline(__always)
    mutating func countText(of change: Change) {
        guard change.countdown.hasAnnotations, change.kind != .started, change.kind != .restarted else { return }
        countText(of: change.countdown)
    }

    /// Counts the text of a countdown.
    mutating func countText(of countdown: KeyedCountdown) {
        callBytesLeft -= countdown.textBytes / Self.textBytesPerCallByte
    }

    /// Counts an end, with its text.
    mutating func count(end countdown: KeyedCountdown) {
        ends += 1
        endingsLeft -= 1
        if countdown.hasAnnotations { endingsLeft -= countdown.textBytes / Self.textBytesPerEnd }
    }

    /// Counts the bytes of a part of a list or of a watch's state, if writing them took longer than the scan.
    mutating func count(scanned bytes: Int, from entries: Int) {
        entriesLeft = min(entriesLeft, entries - bytes / Self.textBytesPerEntry)
    }

    /// Reserves memory for as many changes as the turns before had, of which most calls may have been left for the next one.
    mutating func expect(changes count: Int) {
        changes.steps.reserveCapacity(count)
        applied.reserveCapacity(count)
        tickets.reserveCapacity(count)
    }

    /// Notes a call that was answered, if the turn has a change. Before that, replies show only stored changes.
    @inline(__always)
    mutating func addTicket(
        of connection: Connection,
        _ asked: @autoclosure () -> (call: Call, question: Ticket.Question)?,
        _ reply: Range<Int>
    ) {
        guard !applied.isEmpty else { return }
        tickets.append(Ticket(connection: connection, asked: asked(), reply: reply))
    }

    /// Lets the calls of a connection wait until the turn is stored, if it has a change.
    mutating func holdUp(_ connection: Connection) {
        guard !applied.isEmpty else { return }
        connection.isHeldUp = true
        heldUp.append(connection)
    }
}

/// A call that was answered in a turn, at or after the first change of the turn.
///
/// Its reply is in the output of its connection, and nothing is sent before the turn is stored. If that fails, the changes are undone,
/// and the calls are decided again.
struct Ticket {
    /// The question that must be asked again.
    enum Question {
        /// Nothing: a change fails.
        case change
        case countdown(Key)
        /// Boxed, because it is larger than the other cases.
        indirect case other(ClientRequest)
    }

    let connection: Connection
    /// The call with its question; nil if its reply stays, because it does not depend on countdowns.
    let asked: (call: Call, question: Question)?
    /// The place of its reply in the output.
    let reply: Range<Int>
}

/// The counters of the daemon since its start. `GetStatus` reports these counters.
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
    /// Queued starts that were carried out or refused when their turn came.
    var servedStarts = 0
    /// Clients that were disconnected because they did not read.
    var slowPeers = 0
    /// Clients that were disconnected because all clients together had sent more than is kept.
    var hoardingPeers = 0
    /// Connections that were closed without a reply because their user had too many, or because all were taken and they sent no call.
    var excessPeers = 0
    /// How often the system clock was set.
    var clockSteps = 0
    /// The most that one turn did, for each budget.
    var mostCallsInTurn = 0
    var mostEndingsInTurn = 0
    var mostTicksInTurn = 0
    var mostEntriesInTurn = 0
    var mostServedStartsInTurn = 0

    /// Notes how much of its budgets a turn has used.
    mutating func note(_ turn: borrowing Turn, of limits: Limits) {
        mostCallsInTurn = max(mostCallsInTurn, turn.calls)
        mostEndingsInTurn = max(mostEndingsInTurn, turn.ends)
        mostTicksInTurn = max(mostTicksInTurn, turn.budget.ticks - turn.ticksLeft)
        mostEntriesInTurn = max(mostEntriesInTurn, limits.entriesInTurn - turn.entriesLeft)
        servedStarts += turn.budget.servedStarts - turn.servedStartsLeft
        mostServedStartsInTurn = max(mostServedStartsInTurn, turn.budget.servedStarts - turn.servedStartsLeft)
    }

    var named: [String: Int] {
        [
            "wakeUps": wakeUps, "turns": turns, "calls": calls, "changes": changes, "endings": endings, "ticks": ticks,
            "events": events, "servedStarts": servedStarts, "slowPeers": slowPeers, "hoardingPeers": hoardingPeers,
            "excessPeers": excessPeers, "clockSteps": clockSteps,
            "mostCallsInTurn": mostCallsInTurn, "mostEndingsInTurn": mostEndingsInTurn,
            "mostTicksInTurn": mostTicksInTurn, "mostEntriesInTurn": mostEntriesInTurn,
            "mostServedStartsInTurn": mostServedStartsInTurn,
        ]
    }
}
