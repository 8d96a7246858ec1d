/// What it takes to take a change back.
public struct Applied: Sendable {
    public let change: Change
    let slot: Slot
    let origin: Origin

    enum Origin: Sendable {
        /// The entry is new; the key stood for this one before, or for none.
        case new(instead: Slot?)
        /// The entry was live, as this countdown, behind this one in its list.
        case live(Countdown, after: Slot)
    }
}

extension Timetable {
    /// Carries out a change that `decide` has just found; cannot fail.
    @discardableResult
    public mutating func apply(_ change: Change) -> Applied {
        precondition(change.countdown.revision == revision.next, "a change is applied before another is decided")
        guard change.replaced != nil, let slot = slot(under: change.countdown.key) else {
            revision = change.countdown.revision
            return insert(change)
        }
        let origin = Applied.Origin.live(self[slot], after: slab[slot].previous)
        replace(slot, by: change.countdown)
        return Applied(change: change, slot: slot, origin: origin)
    }

    /// Lets the live countdown that lies there be what it is after a change.
    mutating func replace(_ slot: Slot, by countdown: Countdown) {
        revision = countdown.revision
        unlink(slot, from: .live)
        set(countdown, at: slot)
        lists[Lists.Name(of: slab[slot])].append(slot, in: &slab)
        if !countdown.isLive && countdown.forget { index.remove(countdown.key, in: slab) }
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
            index.remove(key, in: slab)
            if let instead { _ = index.set(key, to: instead, in: slab) }
            discard(slot)
        case .live(let before, let previous):
            _ = index.set(key, to: slot, in: slab)
            set(before, at: slot)
            lists[.live].insert(slot, after: previous, in: &slab)
        }
    }

    /// Puts a countdown in as it was when it was stored, in the order of revisions.
    ///
    /// - Returns: the revision of the live one under the same key whose later state it is, nil where there is none.
    /// - Precondition: its revision is above those of all that were restored before.
    public mutating func restore(_ countdown: Countdown) -> Revision? {
        precondition(countdown.revision > revision, "what is restored comes in the order of revisions")
        revision = countdown.revision
        // Nothing is known under the key of an ending that is not kept.
        guard countdown.isLive || !countdown.forget else { return dropRestored(countdown.key) }
        let applied = insert(Change(kind: .started, countdown: countdown, replaced: nil))
        guard case .new(let instead?) = applied.origin, slab[instead].isLive else { return nil }
        return takeOutRestored(instead)
    }

    /// Takes a live countdown out that was restored and turns out to have ended and been forgotten.
    ///
    /// - Returns: its revision, nil where none is live under the key.
    public mutating func dropRestored(_ key: Key) -> Revision? {
        guard let slot = slot(under: key), slab[slot].isLive else { return nil }
        index.remove(key, in: slab)
        return takeOutRestored(slot)
    }

    private mutating func takeOutRestored(_ slot: Slot) -> Revision {
        unlink(slot, from: .live)
        let revision = slab[slot].revision
        discard(slot)
        return revision
    }

    /// Goes on after what was restored.
    ///
    /// - Parameters:
    ///   - revision: of the newest change; not below those that were restored.
    ///   - oldest: all endings after it were restored.
    ///   - gaps: revisions of which nobody can know whether they were given to changes that are lost.
    public mutating func resume(at revision: Revision, oldest: Revision, gaps: [ClosedRange<Revision>]) {
        self.revision = max(revision, self.revision)
        oldestRevision = min(oldest, self.revision)
        self.gaps = gaps
    }

    @discardableResult
    private mutating func insert(_ change: Change) -> Applied {
        let slot = slab.insert(change.countdown)
        if case .paused = change.countdown.phase { pausedCount += 1 }
        let instead = index.set(change.countdown.key, to: slot, in: slab)
        lists[Lists.Name(of: slab[slot])].append(slot, in: &slab)
        schedule(change.countdown.phase, at: slot)
        return Applied(change: change, slot: slot, origin: .new(instead: instead))
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
