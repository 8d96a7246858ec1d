/// What it takes to take a change back.
public struct Applied: Sendable {
    public let change: Change
    let slot: Slot
    let origin: Origin

    enum Origin: Sendable {
        /// The entry is new; the key stood for this one before, or for none.
        case new(instead: Slot?)
        /// The entry was live, as this countdown, behind this one in its list; its key hid this kept end, or none.
        case live(Countdown, after: Slot, hiding: Slot?)
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
