/// All countdowns, and the only code that changes them.
///
/// A pure value: time is an argument. `decide` computes the change that a request makes, or refuses it, and changes nothing;
/// `apply` makes the change and cannot fail; `undo` reverses it; `expireNext` ends the countdowns whose deadline has come.
public struct Timetable: ~Copyable, Sendable {
    /// The limits that `decide` and `compact` keep to.
    public var limits: Limits
    /// The revision of the newest change.
    public internal(set) var revision: Revision
    /// All ends after this revision are kept: it is the oldest one from which a watch can be resumed.
    public internal(set) var oldestRevision: Revision
    /// Revisions that may have been given to changes that are lost.
    public internal(set) var unknownRevisions: [ClosedRange<Revision>] = []

    var index = KeyIndex()
    var slab = Slab()
    var lists = RevisionLists()
    var deadlines = Deadlines()
    /// For the slot of a live countdown, the slot of the kept end that its key found before.
    ///
    /// If the live countdown ends and is not kept, its key finds that end again.
    var hiddenEnds: [Slot: Slot] = [:]
    /// The restored countdowns that are not in the index yet.
    var bulkLoad = BulkLoad()
    var ages = EndAges()
    var scans: [ScanID: Scan] = [:]
    var lastScan = ScanID(number: 0)
    /// The number of scans whose last visited entry this is; they are moved before it leaves its list.
    var pins: [Slot: Int] = [:]
    /// Always nil. The compiler passes a struct with a weak reference by its address; without one, it copies the 700 bytes of a
    /// timetable for each function that only borrows it.
    private weak var anchor: LongKey?

    /// An empty timetable; its first change gets the revision after the given one.
    public init(limits: Limits, revision: Revision) {
        self.limits = limits
        self.revision = revision
        oldestRevision = revision
    }

    /// The number of running and paused countdowns.
    public var liveCount: Int { lists[.live].count }
    /// The number of paused countdowns.
    public var pausedCount: Int { slab.pausedCount }
    /// The number of running countdowns.
    public var runningCount: Int { liveCount - pausedCount }
    /// The number of kept ends.
    public var endedCount: Int { lists[.ended].count }

    /// The countdown under a key: the live one, or its newest kept end.
    public func countdown(under key: Key) -> KeyedCountdown? { slot(under: key).map { self[$0] } }

    /// Lends the countdown under a key to the body.
    ///
    /// - Returns: whether there is one; if not, the body is not called.
    public func withCountdown(under key: Key, _ body: (KeyedCountdown) -> Void) -> Bool {
        guard let slot = slot(under: key) else { return false }
        body(self[slot])
        return true
    }

    /// The bytes of all labels, metadata and long keys, with the memory to keep them.
    public var textBytes: Int { slab.textBytes }

    /// The slot of the countdown under a key.
    public func slot(under key: Key) -> Slot? {
        index.slot(at: KeyIndex.place(of: key)) { slab.isKey(key, at: $0) }
    }

    /// The countdown in a slot.
    public subscript(_ slot: Slot) -> KeyedCountdown { slab.countdown(at: slot) }

    /// The key of the countdown in a slot.
    public func key(at slot: Slot) -> Key { slab.key(at: slot) }

    /// The revision of the countdown in a slot; if the slot is free, a revision that no countdown has.
    public func revision(at slot: Slot) -> Revision { slab[slot].revision }

    /// Whether the slot still has the countdown of this revision, and its key finds that countdown.
    public func isKnown(_ slot: Slot, with revision: Revision) -> Bool {
        self.revision(at: slot) == revision && self.slot(under: key(at: slot)) == slot
    }

    /// Whether every kept end since a revision can be delivered.
    public func canResume(after revision: Revision) -> Bool {
        (oldestRevision...self.revision).contains(revision) && !unknownRevisions.contains { $0.contains(revision) }
    }

    /// The earliest deadline, as the system clock is set now; nil if no countdown is running.
    public func nextDeadline(at now: Now) -> WallInstant? { deadlines.next(at: now) }

    /// The running countdowns that end first, in the order in which they end.
    ///
    /// - Parameters:
    ///   - count: the number of countdowns that are wanted.
    ///   - now: orders deadlines on both clocks.
    ///   - budget: how many countdowns may be looked at; less the number that was looked at afterwards.
    ///   - isWanted: picks countdowns.
    /// - Returns: the countdowns that were found, and whether all running ones were looked at.
    public func soonestRunning(
        _ count: Int,
        at now: Now,
        budget: inout Int,
        where isWanted: (borrowing Timetable, Slot) -> Bool
    ) -> (slots: [Slot], isAll: Bool) {
        var order = DeadlineOrder(of: deadlines, in: slab, at: now)
        var slots: [Slot] = []
        while slots.count < count, budget > 0 {
            guard let slot = order.next(in: slab) else { return (slots, true) }
            budget -= 1
            if isWanted(self, slot) { slots.append(slot) }
        }
        return (slots, slots.count == runningCount)
    }

    /// Replaces a countdown, and updates its deadline.
    mutating func set(_ countdown: KeyedCountdown, at slot: Slot) {
        slab.set(countdown, at: slot)
        deadlines.set(countdown.phase, of: slot, in: &slab)
    }
}

extension Timetable {
    /// Makes a change that `decide` has just returned. It cannot fail.
    @discardableResult
    public mutating func apply(_ change: Change) -> Applied {
        precondition(change.countdown.revision == revision.next, "a change is applied before another is decided")
        guard change.replaced != nil, let slot = slot(under: change.countdown.key) else {
            revision = change.countdown.revision
            let slot = insert(change.countdown)
            let instead = map(KeyIndex.place(of: change.countdown.key), to: slot)
            if let instead { hiddenEnds[slot] = instead }
            return Applied(slot: slot, origin: .new(instead: instead))
        }
        let origin = Applied.Origin.live(self[slot], after: slab[slot].previous, hiding: hiddenEnds[slot])
        replace(slot, by: change.countdown)
        return Applied(slot: slot, origin: origin)
    }

    /// Replaces the live countdown in a slot with its state after a change.
    mutating func replace(_ slot: Slot, by countdown: KeyedCountdown) {
        revision = countdown.revision
        unlink(slot, from: .live)
        set(countdown, at: slot)
        lists[RevisionLists.Name(of: slab[slot])].append(slot, in: &slab)
        guard !countdown.isLive else { return }
        let hidden = hiddenEnds.isEmpty ? nil : hiddenEnds.removeValue(forKey: slot)
        if countdown.forget { show(hidden, under: countdown.key) }
    }

    /// Lets a key find an older kept end, or nothing.
    mutating func show(_ end: Slot?, under key: Key) {
        if let end {
            map(KeyIndex.place(of: key), to: end)
        } else {
            index.remove(KeyIndex.place(of: key)) { slab.isKey(key, at: $0) }
        }
    }

    /// Maps the key of a slot, whose place in the index is given, to that slot.
    ///
    /// - Returns: the slot to which it was mapped before.
    @discardableResult
    mutating func map(_ place: KeyIndex.Place, to slot: Slot) -> Slot? {
        index.set(place, to: slot) { slab.isKey(slab.key(at: slot), at: $0) }
    }

    /// Notes that the system clock was set by a duration, so that no end is older for that reason.
    public mutating func clockWasSet(by step: Duration, at now: Now) {
        let newest = lists[.ended].last
        ages.clockWasSet(by: step, after: newest == .none ? nil : revision(at: newest), at: now)
    }

    /// Reverses the newest change that has not been reversed; its revision is used again.
    ///
    /// - Precondition: between `apply` and `undo` no countdown expired, no end was compacted and no scan continued.
    public mutating func undo(_ applied: Applied) {
        let slot = applied.slot
        precondition(slab[slot].revision == revision, "changes are undone in reverse")
        revision = revision.previous
        let key = key(at: slot)
        unlink(slot, from: RevisionLists.Name(of: slab[slot]))
        switch applied.origin {
        case .new(let instead):
            hiddenEnds[slot] = nil
            show(instead, under: key)
            discard(slot)
        case .live(let before, let previous, let hidden):
            set(before, at: slot)
            hiddenEnds[slot] = hidden
            map(KeyIndex.place(of: key), to: slot)
            lists[.live].insert(slot, after: previous, in: &slab)
        }
    }

    /// Inserts an entry that is not in the index yet.
    mutating func insert(_ countdown: KeyedCountdown) -> Slot {
        let slot = slab.insert(countdown)
        lists[RevisionLists.Name(of: slab[slot])].append(slot, in: &slab)
        deadlines.set(countdown.phase, of: slot, in: &slab)
        return slot
    }

    /// Takes an entry out of its list; scans that visited it last are moved back.
    mutating func unlink(_ slot: Slot, from name: RevisionLists.Name) {
        if pins[slot] != nil { moveScansBack(from: slot, in: name) }
        lists[name].remove(slot, in: &slab)
    }

    /// Frees the slot of an entry that is neither in a list nor in the index.
    mutating func discard(_ slot: Slot) {
        deadlines.remove(slot, in: &slab)
        slab.free(slot)
    }
}

extension Timetable {
    /// Whether the deadline of any countdown has come.
    public func isDue(at now: Now) -> Bool { nextDeadline(at: now).map { $0 <= now.wall } ?? false }

    /// Finishes the countdown whose deadline came first; nil if none has come.
    ///
    /// Its end is its deadline, however late that is noticed.
    public mutating func expireNext(at now: Now) -> Change? {
        guard let slot = deadlines.firstDue(at: now, in: &slab), let change = expiry(of: self[slot], at: now) else {
            return nil
        }
        replace(slot, by: change.countdown)
        return change
    }

    /// The end of a countdown at its deadline; nil if it is not running.
    func expiry(of countdown: KeyedCountdown, at now: Now) -> Change? {
        guard case .running(let deadline) = countdown.phase else { return nil }
        var ended = countdown
        ended.phase = .finished(at: deadline.wall(at: now), late: max(.zero, .zero - deadline.remaining(at: now)))
        ended.revision = revision.next
        return Change(kind: .finished, countdown: ended, replaced: countdown.revision)
    }

    /// The number of ends beyond the history that scans have yet to visit, or that will be removed next.
    public var heldEnds: Int { lists[.forgotten].count + max(0, lists[.ended].count - limits.history) }

    /// Removes ends that are too many or too old, and forgotten ends.
    ///
    /// Ends that an open scan has yet to visit stay, up to `Limits.endsHeldForWatches` of them.
    ///
    /// - Parameters:
    ///   - now: for the age.
    ///   - budget: how many at most; less the number that was removed afterwards.
    /// - Returns: the revisions of the kept ends that were removed, in their order.
    public mutating func compact(at now: Now, budget: inout Int) -> [Revision] {
        var visited = visitedByAllScans(in: .forgotten)
        while budget > 0, lists[.forgotten].count > 0,
            revision(at: lists[.forgotten].first) <= visited || lists[.forgotten].count > limits.endsHeldForWatches
        {
            dropFirst(of: .forgotten)
            budget -= 1
        }
        var compacted: [Revision] = []
        visited = visitedByAllScans(in: .ended)
        while budget > 0, let oldest = oldestEnd, isOver(oldest, at: now),
            oldest.revision <= visited || lists[.ended].count > limits.history + limits.endsHeldForWatches
        {
            compacted.append(oldest.revision)
            unlist(lists[.ended].first, under: oldest.key)
            dropFirst(of: .ended)
            budget -= 1
        }
        if let newest = compacted.last { oldestRevision = max(oldestRevision, newest) }
        return compacted
    }

    /// Removes the kept ends up to a revision. No scan is open.
    public mutating func dropEnds(through revision: Revision) {
        while let oldest = oldestEnd, oldest.revision <= revision {
            unlist(lists[.ended].first, under: oldest.key)
            dropFirst(of: .ended)
        }
    }

    /// The revision up to which all open scans have visited the ends in a list.
    private func visitedByAllScans(in name: RevisionLists.Name) -> Revision {
        guard lists[name].count > 0 else { return Revision(.max) }
        return scans.values.lazy.compactMap { $0.visited(in: name) }.min() ?? Revision(.max)
    }

    /// Takes a kept end out of the index, or out of the hidden ends.
    private mutating func unlist(_ end: Slot, under key: Key) {
        let isFound = index.remove(KeyIndex.place(of: key)) { $0 == end } != nil
        if !isFound, let known = slot(under: key), hiddenEnds[known] == end { hiddenEnds[known] = nil }
    }

    private var oldestEnd: KeyedCountdown? {
        let first = lists[.ended].first
        return first == .none ? nil : self[first]
    }

    private mutating func isOver(_ end: KeyedCountdown, at now: Now) -> Bool {
        if lists[.ended].count > limits.history { return true }
        guard let noticed = end.noticed else { return false }
        return ages.age(ofOldest: end.revision, noticed: noticed, at: now).map { $0 > limits.historyAge } ?? false
    }

    private mutating func dropFirst(of name: RevisionLists.Name) {
        let slot = lists[name].first
        lists[name].compacted = slab[slot].revision
        unlink(slot, from: name)
        discard(slot)
    }
}

extension Timetable {
    /// Opens a scan. It takes memory until `closeScan` is called.
    ///
    /// If it begins after a revision in the ended list, it also visits the forgotten ends from now on, and ends are held for
    /// it. A scan of the ends that happen to be kept (`.oldest`) does neither, and cannot miss one.
    public mutating func openScan(live: Scan.StartPoint, ended: Scan.StartPoint) -> ScanID {
        lastScan = ScanID(number: lastScan.number + 1)
        var forgotten = Scan.StartPoint.nowhere
        if case .after = ended { forgotten = .after(revision) }
        let scan = Scan(live: live, ended: ended, forgotten: forgotten, of: lists)
        for slot in scan.lastSlots { pin(slot) }
        scans[lastScan] = scan
        return lastScan
    }

    /// Closes a scan, so that nothing is held for it any more; nothing happens if it is closed already.
    public mutating func closeScan(_ id: ScanID) {
        guard let scan = scans.removeValue(forKey: id) else { return }
        for slot in scan.lastSlots { unpin(slot) }
    }

    /// Continues a scan.
    ///
    /// - Parameters:
    ///   - id: an open scan.
    ///   - budget: how many entries at most; less the number that was visited or passed afterwards.
    ///   - visit: is called with the timetable and each entry; false stops behind that entry.
    /// - Returns: whether more entries follow.
    public mutating func scan(
        _ id: ScanID,
        budget: inout Int,
        visit: (borrowing Timetable, Slot) -> Bool
    ) -> Scan.Progress {
        guard var scan = scans[id] else { return .missed }
        for slot in scan.lastSlots { unpin(slot) }
        defer {
            for slot in scan.lastSlots { pin(slot) }
            scans[id] = scan
        }
        guard !scan.missesEntries(of: lists) else { return .missed }
        guard scan.seek(in: slab, budget: &budget) else { return .more }
        while budget > 0 {
            guard let slot = scan.next(in: lists, slab) else { return .atEnd }
            budget -= 1
            guard visit(self, slot) else { return .more }
        }
        return .more
    }

    /// Visits all countdowns, for a new store: those that run, are paused or are kept as history, in the order of their revisions.
    public func visitAll<Failure>(_ visit: (KeyedCountdown) throws(Failure) -> Void) throws(Failure) {
        var scan = Scan(live: .oldest, ended: .oldest, forgotten: .nowhere, of: lists)
        while let slot = scan.next(in: lists, slab) { try visit(self[slot]) }
    }

    // MARK: Pinned entries: the last ones that open scans have visited

    private mutating func pin(_ slot: Slot) { pins[slot, default: 0] += 1 }

    private mutating func unpin(_ slot: Slot) {
        guard let count = pins[slot] else { return }
        pins[slot] = count == 1 ? nil : count - 1
    }

    /// Moves scans from an entry that is about to leave its list to the entry before it.
    private mutating func moveScansBack(from slot: Slot, in name: RevisionLists.Name) {
        let previous = slab[slot].previous
        for id in scans.keys where scans[id]?.moveBack(from: slot, in: name, to: previous) == true {
            unpin(slot)
            if previous != .none { pin(previous) }
        }
    }
}

extension KeyedCountdown {
    /// When its end was noticed: an end from a time when the daemon did not run is not old for that reason.
    var noticed: WallInstant? {
        if case .finished(let instant, let late) = phase { instant + late } else { ended }
    }
}
