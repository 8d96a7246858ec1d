/// All countdowns, and what may become of them.
///
/// A pure value: time comes in as an argument, what is to be done goes out. `decide` says what a request comes to and
/// changes nothing, `apply` carries it out and cannot fail, `undo` takes it back.
public struct Timetable: Sendable {
    public let policy: Policy
    /// The newest change's.
    public internal(set) var revision: Revision
    /// All endings after this one are kept; it is the oldest that a watch can be resumed from.
    public internal(set) var oldestRevision: Revision
    public internal(set) var pausedCount = 0

    var gaps: [ClosedRange<Revision>] = []
    var index = KeyIndex()
    var slab = Slab()
    var lists = Lists()
    var deadlines = Deadlines()
    /// The kept end that lies under the key of a live countdown: by the slot of the live one, the slot of the end.
    ///
    /// If the live countdown ends and is not kept, its key shows that end again.
    var hiddenEnds: [Slot: Slot] = [:]
    /// What is being restored.
    var arrivals = Arrivals()
    var walks: [WalkID: Walk] = [:]
    var lastWalk = WalkID(number: 0)
    /// How many walks stand on an entry; they have to be moved where it is.
    var walkers: [Slot: Int] = [:]

    /// An empty timetable whose first change has the revision after the given one.
    public init(policy: Policy, revision: Revision) {
        self.policy = policy
        self.revision = revision
        oldestRevision = revision
    }

    /// Running and paused countdowns.
    public var liveCount: Int { lists[.live].count }
    public var runningCount: Int { liveCount - pausedCount }
    /// Endings that are kept.
    public var endedCount: Int { lists[.ended].count }

    /// The countdown that is known under a key.
    public func countdown(under key: Key) -> Countdown? {
        slot(under: key).map { self[$0] }
    }

    /// Where the countdown that is known under a key lies.
    public func slot(under key: Key) -> Slot? {
        index.slot(of: key, in: slab)
    }

    /// The countdown that lies there.
    public subscript(_ slot: Slot) -> Countdown {
        slab.countdown(at: slot, deadline: deadlines.deadline(of: slot))
    }

    /// The key of the countdown that lies there.
    public func key(at slot: Slot) -> Key { slab.key(at: slot) }

    /// The revision of the countdown that lies there; one that no countdown has if there is none.
    public func revision(at slot: Slot) -> Revision { slab[slot].revision }

    /// Whether the countdown that lies there has this revision and is the one that its key stands for.
    public func isKnown(_ slot: Slot, with revision: Revision) -> Bool {
        self.revision(at: slot) == revision && self.slot(under: key(at: slot)) == slot
    }

    /// Whether all that has happened since a revision can be told.
    public func canResume(after revision: Revision) -> Bool {
        (oldestRevision...self.revision).contains(revision) && !gaps.contains { $0.contains(revision) }
    }

    /// The earliest deadline, as the system clock is set now; nil where nothing runs.
    public func nextDeadline(at now: Now) -> WallInstant? {
        deadlines.next(at: now)
    }

    /// The running countdowns that end first, in the order in which they end.
    ///
    /// - Parameters:
    ///   - count: the number of countdowns that are wanted.
    ///   - now: orders deadlines on both clocks.
    ///   - limit: how many countdowns may be looked at; less the number that was looked at afterwards.
    ///   - isWanted: picks countdowns.
    /// - Returns: the countdowns that were found, and whether all running ones were looked at.
    public func soonestRunning(
        _ count: Int,
        at now: Now,
        limit: inout Int,
        where isWanted: (Timetable, Slot) -> Bool
    ) -> (slots: [Slot], isAll: Bool) {
        var order = deadlines.inOrder(at: now)
        var slots: [Slot] = []
        while slots.count < count, limit > 0 {
            guard let slot = order.next(in: slab) else { return (slots, true) }
            limit -= 1
            if isWanted(self, slot) { slots.append(slot) }
        }
        return (slots, slots.count == runningCount)
    }

    // MARK: Upkeep of the entries and their deadlines

    /// Puts the deadline of a countdown among the others, or takes it out where it has none.
    mutating func schedule(_ phase: Phase, at slot: Slot) {
        if case .running(let deadline) = phase {
            deadlines.set(deadline, of: slot, in: &slab)
        } else {
            deadlines.remove(slot, in: &slab)
        }
    }

    /// Replaces what an entry holds, with the count of the paused ones and the deadline.
    mutating func set(_ countdown: Countdown, at slot: Slot) {
        if slab[slot].state == .paused { pausedCount -= 1 }
        slab.set(countdown, at: slot)
        if case .paused = countdown.phase { pausedCount += 1 }
        schedule(countdown.phase, at: slot)
    }
}
