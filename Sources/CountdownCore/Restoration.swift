extension Timetable {
    /// How many countdowns are restored between two flushes: as many as there are already, within these bounds. So the index
    /// grows only a few times, and the entries that wait take little memory.
    private static let flushSizes = 65_536...262_144

    /// Inserts a stored countdown. It is found under its key after the next `flush`.
    ///
    /// - Precondition: countdowns are restored in the order of their revisions.
    public mutating func restore(_ countdown: KeyedCountdown) {
        precondition(countdown.revision > revision, "countdowns are restored in the order of their revisions")
        revision = countdown.revision
        // The key of an end that is not kept does not find it.
        guard countdown.isLive || !countdown.forget else {
            if let live = dropRestored(countdown.key) { bulkLoad.replaced.append(live) }
            return
        }
        if let noticed = countdown.noticed { ages.restore(revision, noticed: noticed) }
        bulkLoad.append(insert(countdown), KeyIndex.place(of: countdown.key))
    }

    /// Removes a restored live countdown of which a later row says that it ended and was forgotten.
    ///
    /// - Returns: its revision; nil if no countdown is live under the key.
    public mutating func dropRestored(_ key: Key) -> Revision? {
        indexLoaded()
        guard let slot = slot(under: key), slab[slot].isLive else { return nil }
        show(hiddenEnds.removeValue(forKey: slot), under: key)
        return removeReplaced(slot)
    }

    /// Whether `flush` must be called before more countdowns are restored.
    public var needsFlush: Bool { needsFlush(after: Self.flushSizes) }

    func needsFlush(after sizes: ClosedRange<Int>) -> Bool {
        let flushed = liveCount + endedCount - bulkLoad.count
        return bulkLoad.count >= min(max(flushed, sizes.lowerBound), sizes.upperBound)
    }

    /// Puts the restored countdowns into the index.
    ///
    /// - Returns: the revisions of live countdowns that a later row replaced; the revisions of one key are in their order.
    public mutating func flush() -> [Revision] {
        indexLoaded()
        defer { bulkLoad.replaced = [] }
        return bulkLoad.replaced
    }

    /// Ends the bulk load; changes follow.
    ///
    /// - Parameters:
    ///   - revision: the newest change; not below a restored revision.
    ///   - oldest: all ends after this revision were restored.
    ///   - gaps: revisions that may have been used by changes that are lost.
    ///   - now: this instant.
    public mutating func resume(at revision: Revision, oldest: Revision, gaps: [ClosedRange<Revision>], now: Now) {
        precondition(bulkLoad.isEmpty, "restored countdowns are flushed")
        bulkLoad = BulkLoad()
        self.revision = max(revision, self.revision)
        oldestRevision = min(oldest, self.revision)
        unknownRevisions = gaps
        ages.resume(at: now)
    }

    private mutating func indexLoaded() {
        let tables = bulkLoad.sort()
        for (number, count) in tables.enumerated() { index.makeRoom(for: count, inTable: number) }
        for entry in bulkLoad.take() {
            guard let instead = map(entry.place, to: entry.slot) else { continue }
            let wasLive = slab[instead].isLive
            let hidden = wasLive ? hiddenEnds.removeValue(forKey: instead) : instead
            if slab[entry.slot].isLive { hiddenEnds[entry.slot] = hidden }
            if wasLive { bulkLoad.replaced.append(removeReplaced(instead)) }
        }
    }

    private mutating func removeReplaced(_ slot: Slot) -> Revision {
        unlink(slot, from: .live)
        let revision = slab[slot].revision
        discard(slot)
        return revision
    }
}

/// Restored countdowns that are not in the index yet.
///
/// The keys of a store are spread over the whole index, so inserting them one by one waits for memory each time, which takes
/// longer than everything else. So they are inserted in bulk, one table of the index after the other.
struct BulkLoad: Sendable {
    private var entries: [(place: KeyIndex.Place, slot: Slot)] = []
    /// The revisions of countdowns that a later row replaced.
    var replaced: [Revision] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty && replaced.isEmpty }

    mutating func append(_ slot: Slot, _ place: KeyIndex.Place) { entries.append((place, slot)) }

    /// Sorts the entries by their tables, stably; a few entries are not sorted.
    /// - Returns: the number of entries for each table; empty if they were not sorted.
    mutating func sort() -> [Int] {
        guard entries.count > KeyIndex.tableCount else { return [] }
        var counts = [Int](repeating: 0, count: KeyIndex.tableCount)
        for entry in entries { counts[Int(entry.place.table)] += 1 }
        var next = counts
        var sum = 0
        for table in next.indices { (next[table], sum) = (sum, sum + next[table]) }
        var sorted = entries
        for entry in entries {
            sorted[next[Int(entry.place.table)]] = entry
            next[Int(entry.place.table)] += 1
        }
        entries = sorted
        return counts
    }

    /// Removes all entries.
    mutating func take() -> [(place: KeyIndex.Place, slot: Slot)] {
        defer { entries = [] }
        return entries
    }
}
