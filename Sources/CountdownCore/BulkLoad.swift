extension Timetable {
    /// As many are restored before they are put under their keys as there are already, within these: so that the index grows
    /// a few times alone, and what the arrivals take is little beside it.
    private static let arrivals = 65_536...262_144

    /// Puts a countdown in as it was when it was stored, in the order of revisions. It is found once it is settled.
    ///
    /// - Precondition: its revision is above those of all that were restored before.
    public mutating func restore(_ countdown: Countdown) {
        precondition(countdown.revision > revision, "what is restored comes in the order of revisions")
        revision = countdown.revision
        // Nothing is known under the key of an ending that is not kept.
        guard countdown.isLive || !countdown.forget else {
            if let live = dropRestored(countdown.key) { arrivals.superseded.append(live) }
            return
        }
        arrivals.append(insert(countdown), KeyIndex.place(of: countdown.key))
    }

    /// Takes a live countdown out that was restored and turns out to have ended and been forgotten.
    ///
    /// - Returns: its revision, nil where none is live under the key.
    public mutating func dropRestored(_ key: Key) -> Revision? {
        putUnderKeys()
        guard let slot = slot(under: key), slab[slot].isLive else { return nil }
        show(hiddenEnds.removeValue(forKey: slot), under: key)
        return takeOutRestored(slot)
    }

    /// Whether so much was restored that it is to be settled before there is more.
    public var isToSettle: Bool {
        let settled = liveCount + endedCount - arrivals.count
        return arrivals.count >= min(max(settled, Self.arrivals.lowerBound), Self.arrivals.upperBound)
    }

    /// Puts what was restored under its keys.
    ///
    /// - Returns: the revisions of the live ones whose later state was restored, those of a key in their order.
    public mutating func settle() -> [Revision] {
        putUnderKeys()
        defer { arrivals.superseded = [] }
        return arrivals.superseded
    }

    /// Goes on after what was restored and settled.
    ///
    /// - Parameters:
    ///   - revision: of the newest change; not below those that were restored.
    ///   - oldest: all endings after it were restored.
    ///   - gaps: revisions of which nobody can know whether they were given to changes that are lost.
    public mutating func resume(at revision: Revision, oldest: Revision, gaps: [ClosedRange<Revision>]) {
        precondition(arrivals.isEmpty, "what was restored is settled")
        arrivals = Arrivals()
        self.revision = max(revision, self.revision)
        oldestRevision = min(oldest, self.revision)
        self.gaps = gaps
    }

    private mutating func putUnderKeys() {
        let tables = arrivals.sort()
        for (number, count) in tables.enumerated() { index.makeRoom(for: count, inTable: number) }
        for arrival in arrivals.take() {
            guard let instead = index.set(arrival.place, to: arrival.slot, in: slab) else { continue }
            let wasLive = slab[instead].isLive
            let hidden = wasLive ? hiddenEnds.removeValue(forKey: instead) : instead
            if slab[arrival.slot].isLive { hiddenEnds[arrival.slot] = hidden }
            if wasLive { arrivals.superseded.append(takeOutRestored(instead)) }
        }
    }

    private mutating func takeOutRestored(_ slot: Slot) -> Revision {
        unlink(slot, from: .live)
        let revision = slab[slot].revision
        discard(slot)
        return revision
    }
}

/// What was restored and is not under its key yet.
///
/// The keys of a store lie anywhere in the index: to put each in as it comes is to wait for memory each time, which takes
/// longer than all else. So many of them are put in at once, one table of the index after the other.
struct Arrivals: Sendable {
    struct Arrival: Sendable {
        let place: KeyIndex.Place
        let slot: Slot
    }

    private var arrivals: [Arrival] = []
    /// The revisions of those that were taken out again.
    var superseded: [Revision] = []

    var count: Int { arrivals.count }
    var isEmpty: Bool { arrivals.isEmpty && superseded.isEmpty }

    mutating func append(_ slot: Slot, _ place: KeyIndex.Place) {
        arrivals.append(Arrival(place: place, slot: slot))
    }

    /// Puts them in the order of their tables; those of a table stay in theirs. Nothing happens where they are few.
    /// - Returns: how many belong into each table.
    mutating func sort() -> [Int] {
        guard arrivals.count > KeyIndex.tableCount else { return [] }
        var counts = [Int](repeating: 0, count: KeyIndex.tableCount)
        for arrival in arrivals { counts[Int(arrival.place.table)] += 1 }
        var next = counts
        var sum = 0
        for table in next.indices { (next[table], sum) = (sum, sum + next[table]) }
        var sorted = arrivals
        for arrival in arrivals {
            sorted[next[Int(arrival.place.table)]] = arrival
            next[Int(arrival.place.table)] += 1
        }
        arrivals = sorted
        return counts
    }

    /// All of them; none is left.
    mutating func take() -> [Arrival] {
        defer { arrivals = [] }
        return arrivals
    }
}
