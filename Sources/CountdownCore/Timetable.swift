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

extension Timetable {
    /// Carries out a change that `decide` has just found; cannot fail.
    @discardableResult
    public mutating func apply(_ change: Change) -> Applied {
        precondition(change.countdown.revision == revision.next, "a change is applied before another is decided")
        guard change.replaced != nil, let slot = slot(under: change.countdown.key) else {
            revision = change.countdown.revision
            let slot = insert(change.countdown)
            let instead = index.set(KeyIndex.place(of: change.countdown.key), to: slot, in: slab)
            if let instead { hiddenEnds[slot] = instead }
            return Applied(change: change, slot: slot, origin: .new(instead: instead))
        }
        let origin = Applied.Origin.live(self[slot], after: slab[slot].previous, hiding: hiddenEnds[slot])
        replace(slot, by: change.countdown)
        return Applied(change: change, slot: slot, origin: origin)
    }

    /// Lets the live countdown that lies there be what it is after a change.
    mutating func replace(_ slot: Slot, by countdown: Countdown) {
        revision = countdown.revision
        unlink(slot, from: .live)
        set(countdown, at: slot)
        lists[Lists.Name(of: slab[slot])].append(slot, in: &slab)
        guard !countdown.isLive else { return }
        let hidden = hiddenEnds.removeValue(forKey: slot)
        if countdown.forget { show(hidden, under: countdown.key) }
    }

    /// Lets a key stand for an older end that is kept, or for nothing.
    mutating func show(_ end: Slot?, under key: Key) {
        if let end {
            _ = index.set(KeyIndex.place(of: key), to: end, in: slab)
        } else {
            index.remove(key, in: slab)
        }
    }

    /// Takes back the newest change that has been applied and not taken back; its revision is given again.
    ///
    /// Between `apply` and `undo` nothing may have ended, been let go or been walked past.
    public mutating func undo(_ applied: Applied) {
        precondition(applied.change.countdown.revision == revision, "changes are undone in reverse")
        revision = revision.previous
        let key = applied.change.countdown.key
        let slot = applied.slot
        unlink(slot, from: Lists.Name(of: slab[slot]))
        switch applied.origin {
        case .new(let instead):
            hiddenEnds[slot] = nil
            show(instead, under: key)
            discard(slot)
        case .live(let before, let previous, let hidden):
            set(before, at: slot)
            hiddenEnds[slot] = hidden
            _ = index.set(KeyIndex.place(of: key), to: slot, in: slab)
            lists[.live].insert(slot, after: previous, in: &slab)
        }
    }

    /// Puts in an entry that is under no key yet.
    mutating func insert(_ countdown: Countdown) -> Slot {
        let slot = slab.insert(countdown)
        if case .paused = countdown.phase { pausedCount += 1 }
        lists[Lists.Name(of: slab[slot])].append(slot, in: &slab)
        schedule(countdown.phase, at: slot)
        return slot
    }

    /// Takes an entry out of its list; walks that stand on it step back.
    mutating func unlink(_ slot: Slot, from name: Lists.Name) {
        if walkers[slot] != nil { stepBack(from: slot, in: name) }
        lists[name].remove(slot, in: &slab)
    }

    /// Gives up an entry that is in no list and under no key any more.
    mutating func discard(_ slot: Slot) {
        if slab[slot].state == .paused { pausedCount -= 1 }
        deadlines.remove(slot, in: &slab)
        slab.free(slot)
    }
}

extension Timetable {
    /// Whether a deadline has come.
    public func isDue(at now: Now) -> Bool {
        nextDeadline(at: now).map { $0 <= now.wall } ?? false
    }

    /// Ends the countdown whose deadline came first, as finished; nil where none has come.
    ///
    /// It ended at its deadline, whenever that is noticed.
    public mutating func endNextDue(at now: Now) -> Change? {
        guard let slot = deadlines.firstDue(at: now, in: &slab) else { return nil }
        var countdown = self[slot]
        guard case .running(let deadline) = countdown.phase else { return nil }
        let (replaced, late) = (countdown.revision, max(.zero, .zero - deadline.remaining(at: now)))
        countdown.phase = .finished(at: deadline.wall(at: now), late: late)
        countdown.revision = revision.next
        replace(slot, by: countdown)
        return Change(kind: .finished, countdown: countdown, replaced: replaced)
    }

    /// Removes ends that are too many or too old, and forgotten ends.
    ///
    /// Ends that an open walk has yet to meet stay, up to `Policy.endsHeldForWatches` of them.
    ///
    /// - Parameters:
    ///   - now: for the age.
    ///   - limit: how many at most; less the number that was removed afterwards.
    /// - Returns: the revisions of the kept ends that were removed, in their order.
    public mutating func trim(at now: Now, limit: inout Int) -> [Revision] {
        var met = metByAllWalks(in: .forgotten)
        while limit > 0, lists[.forgotten].count > 0,
            revision(at: lists[.forgotten].first) <= met || lists[.forgotten].count > policy.endsHeldForWatches
        {
            dropFirst(of: .forgotten)
            limit -= 1
        }
        var trimmed: [Revision] = []
        met = metByAllWalks(in: .ended)
        while limit > 0, let oldest = oldestEnding, isOver(oldest, at: now),
            oldest.revision <= met || lists[.ended].count > policy.history + policy.endsHeldForWatches
        {
            trimmed.append(oldest.revision)
            letGo(of: lists[.ended].first, under: oldest.key)
            dropFirst(of: .ended)
            limit -= 1
        }
        if let newest = trimmed.last { oldestRevision = max(oldestRevision, newest) }
        return trimmed
    }

    /// The revision up to which no open walk has an end left to meet in a list.
    private func metByAllWalks(in name: Lists.Name) -> Revision {
        var met = Revision(.max)
        guard lists[name].count > 0 else { return met }
        for walk in walks.values {
            let place = walk.places[name.rawValue]
            if case .after = place.start { met = min(met, place.passed) }
        }
        return met
    }

    /// Lets a key, and the live countdown under it, no longer stand for a kept end.
    private mutating func letGo(of end: Slot, under key: Key) {
        guard let known = slot(under: key) else { return }
        if known == end {
            index.remove(key, in: slab)
        } else if hiddenEnds[known] == end {
            hiddenEnds[known] = nil
        }
    }

    private var oldestEnding: Countdown? {
        let first = lists[.ended].first
        return first == .none ? nil : self[first]
    }

    private func isOver(_ ending: Countdown, at now: Now) -> Bool {
        if lists[.ended].count > policy.history { return true }
        return ending.toldSince.map { now.wall - $0 > policy.historyAge } ?? false
    }

    private mutating func dropFirst(of name: Lists.Name) {
        let slot = lists[name].first
        lists[name].released = slab[slot].revision
        unlink(slot, from: name)
        discard(slot)
    }
}

extension Countdown {
    /// When its ending could be told first: what ended while nobody could tell it is not old on that account.
    fileprivate var toldSince: WallInstant? {
        guard case .finished(let instant, let late) = phase else { return ended }
        return instant + late
    }
}
