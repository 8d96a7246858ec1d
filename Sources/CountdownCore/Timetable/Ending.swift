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
