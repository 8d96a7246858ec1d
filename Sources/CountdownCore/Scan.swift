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
    public enum StartPoint: Hashable, Sendable {
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

    /// How far the scan of one list has come.
    private struct ListPosition: Sendable {
        let start: StartPoint
        /// The last entry that was visited; none before the first. At first an entry behind the start, if there is one.
        var slot: Slot
        /// Entries up to this revision need no visit any more.
        var passed: Revision

        init(start: StartPoint, last: Slot) {
            self.start = start
            switch start {
            case .oldest, .nowhere: (slot, passed) = (.none, Revision(.min))
            case .after(let revision): (slot, passed) = (last, revision)
            }
        }
    }

    /// In the order of `RevisionLists.Name`.
    private var positions: [ListPosition]

    /// A scan before its first step.
    init(live: StartPoint, ended: StartPoint, forgotten: StartPoint, of lists: RevisionLists) {
        positions = zip(RevisionLists.Name.allCases, [live, ended, forgotten]).map {
            ListPosition(start: $1, last: lists[$0].last)
        }
    }

    /// The last entries that were visited, at most one in each list. They must be moved before they leave their list.
    var lastSlots: [Slot] { positions.map(\.slot).filter { $0 != .none } }

    /// Goes back to the start of each list.
    ///
    /// - Parameters:
    ///   - slab: the entries.
    ///   - budget: how many entries at most; less the number that was passed afterwards.
    /// - Returns: false if the budget was used up before.
    mutating func seek(in slab: Slab, budget: inout Int) -> Bool {
        for index in positions.indices {
            while positions[index].slot != .none, slab[positions[index].slot].revision > positions[index].passed {
                guard budget > 0 else { return false }
                budget -= 1
                positions[index].slot = slab[positions[index].slot].previous
            }
        }
        return true
    }

    /// Goes to the entry with the least revision among the next ones of all lists; nil at the end of the lists.
    mutating func next(in lists: RevisionLists, _ slab: Slab) -> Slot? {
        var least: (index: Int, slot: Slot)?
        for name in RevisionLists.Name.allCases {
            let position = positions[name.rawValue]
            guard position.start != .nowhere else { continue }
            var slot = lists[name].next(after: position.slot, in: slab)
            // Undoing a change may have put its entry behind the scan.
            while slot != .none, slab[slot].revision <= position.passed { slot = slab[slot].next }
            guard slot != .none else { continue }
            if let known = least, slab[known.slot].revision < slab[slot].revision { continue }
            least = (name.rawValue, slot)
        }
        guard let (index, slot) = least else { return nil }
        (positions[index].slot, positions[index].passed) = (slot, slab[slot].revision)
        return slot
    }

    /// Whether an entry was compacted that a scan with a start in the history would have visited.
    func missesEntries(of lists: RevisionLists) -> Bool {
        RevisionLists.Name.allCases.contains { name in
            visited(in: name).map { $0 < lists[name].compacted } ?? false
        }
    }

    /// The revision up to which the entries of a list need not be held for this scan; nil if it misses none of them.
    func visited(in name: RevisionLists.Name) -> Revision? {
        if case .after = positions[name.rawValue].start { positions[name.rawValue].passed } else { nil }
    }

    /// Moves from an entry that is about to leave its list to the entry before it.
    ///
    /// - Returns: whether the entry was the last one visited in that list.
    mutating func moveBack(from slot: Slot, in name: RevisionLists.Name, to previous: Slot) -> Bool {
        guard positions[name.rawValue].slot == slot else { return false }
        positions[name.rawValue].slot = previous
        return true
    }
}
