/// The name of a scan.
public struct ScanID: Hashable, Sendable {
    let number: UInt64
}

/// A scan through the countdowns in the order of revisions, a few at a time, while they go on changing.
///
/// A countdown that changes moves to the end of its list and is visited there in its new state. So a scan that has reached the
/// end has visited every change up to the current revision.
public struct Scan: Sendable {
    /// Where a scan of one of the lists begins.
    public enum Start: Hashable, Sendable {
        /// With the oldest entry.
        case oldest
        /// With the first entry after this revision.
        case after(Revision)
        /// The list is left out.
        case nowhere
    }

    /// The state of a scan after a step.
    public enum Progress: Equatable, Sendable {
        /// The budget is used up, or the visitor stopped the step.
        case more
        /// Everything up to the current revision has been visited.
        case atEnd
        /// An end was compacted before the scan visited it.
        case missed
    }

    struct Place: Sendable {
        let start: Start
        /// The last entry that was visited; none before the first.
        var slot: Slot
        /// Whether the scan is still on its way from the newest entry back to its start.
        var isSeeking: Bool
        /// Entries up to this revision need no visit any more.
        var passed: Revision

        init(start: Start, last: Slot) {
            self.start = start
            switch start {
            case .oldest, .nowhere: (slot, isSeeking, passed) = (.none, false, Revision(.min))
            case .after(let revision): (slot, isSeeking, passed) = (last, true, revision)
            }
        }
    }

    var places: [Place]
}

extension Timetable {
    /// Opens a scan. It takes memory until `closeScan` is called.
    ///
    /// If it begins after a revision in the ended list, it also visits the forgotten ends from now on, and ends are held for
    /// it. A scan of the ends that happen to be kept (`.oldest`) does neither, and cannot miss one.
    public mutating func openScan(live: Scan.Start, ended: Scan.Start) -> ScanID {
        lastScan = ScanID(number: lastScan.number + 1)
        var forgotten = Scan.Start.nowhere
        if case .after = ended { forgotten = .after(revision) }
        let starts = [live, ended, forgotten]
        let places = zip(RevisionLists.Name.allCases, starts).map { Scan.Place(start: $1, last: lists[$0].last) }
        for place in places { pin(place.slot) }
        scans[lastScan] = Scan(places: places)
        return lastScan
    }

    /// Closes a scan, so that nothing is held for it any more; nothing happens if it is closed already.
    public mutating func closeScan(_ id: ScanID) {
        guard let scan = scans.removeValue(forKey: id) else { return }
        for place in scan.places { unpin(place.slot) }
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
        for place in scan.places { unpin(place.slot) }
        defer {
            for place in scan.places { pin(place.slot) }
            scans[id] = scan
        }
        guard !misses(scan) else { return .missed }
        for name in RevisionLists.Name.allCases { seek(&scan.places[name.rawValue], budget: &budget) }
        guard !scan.places.contains(where: \.isSeeking) else { return .more }
        while budget > 0 {
            guard let (name, slot) = next(of: scan) else { return .atEnd }
            budget -= 1
            scan.places[name.rawValue].slot = slot
            scan.places[name.rawValue].passed = slab[slot].revision
            guard visit(self, slot) else { return .more }
        }
        return .more
    }

    /// Goes back to the start of a place.
    private func seek(_ place: inout Scan.Place, budget: inout Int) {
        guard place.isSeeking, case .after(let revision) = place.start else { return }
        while place.slot != .none, slab[place.slot].revision > revision {
            guard budget > 0 else { return }
            budget -= 1
            place.slot = slab[place.slot].previous
        }
        place.isSeeking = false
    }

    /// The entry with the least revision among the next ones of all lists.
    private func next(of scan: Scan) -> (RevisionLists.Name, Slot)? {
        var least: (name: RevisionLists.Name, slot: Slot)?
        for name in RevisionLists.Name.allCases {
            let place = scan.places[name.rawValue]
            guard place.start != .nowhere else { continue }
            var slot = lists[name].next(after: place.slot, in: slab)
            // Undoing a change may have put its entry behind the scan.
            while slot != .none, slab[slot].revision <= place.passed { slot = slab[slot].next }
            guard slot != .none else { continue }
            if let known = least, slab[known.slot].revision < slab[slot].revision { continue }
            least = (name, slot)
        }
        return least.map { ($0.name, $0.slot) }
    }

    /// Whether an entry was compacted that a scan with a place in the history would have visited.
    private func misses(_ scan: Scan) -> Bool {
        RevisionLists.Name.allCases.contains { name in
            guard case .after = scan.places[name.rawValue].start else { return false }
            return lists[name].compacted > scan.places[name.rawValue].passed
        }
    }

    // MARK: Pinned entries: the last ones that open scans have visited

    private mutating func pin(_ slot: Slot) {
        if slot != .none { pins[slot, default: 0] += 1 }
    }

    private mutating func unpin(_ slot: Slot) {
        guard let count = pins[slot] else { return }
        pins[slot] = count == 1 ? nil : count - 1
    }

    /// Moves scans from an entry that is about to leave its list to the entry before it.
    mutating func moveBack(from slot: Slot, in name: RevisionLists.Name) {
        let previous = slab[slot].previous
        for id in scans.keys {
            guard let place = scans[id]?.places[name.rawValue], place.slot == slot else { continue }
            unpin(slot)
            pin(previous)
            scans[id]?.places[name.rawValue].slot = previous
        }
    }
}
