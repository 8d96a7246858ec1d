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

    /// Whether the restored countdown of a key has at least this revision.
    public mutating func isRestored(_ key: Key, since revision: Revision) -> Bool {
        indexLoaded()
        return slot(under: key).map { slab[$0].revision >= revision } ?? false
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
        self.revision = max(revision, self.revision)
        oldestRevision = min(oldest, self.revision)
        unknownRevisions = gaps
        ages.resume(at: now)
    }

    private mutating func indexLoaded() {
        let (entries, counts) = bulkLoad.take()
        for (number, count) in counts.enumerated() { index.makeRoom(for: count, inTable: number) }
        for entry in entries {
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
