/// A list through the entries of a slab, in the order of their revisions.
struct RevisionList: Sendable {
    private(set) var first = Slot.none
    private(set) var last = Slot.none
    private(set) var count = 0
    /// The revision of the newest entry that was compacted.
    var compacted = Revision(.min)

    mutating func append(_ slot: Slot, in slab: inout Slab) { insert(slot, after: last, in: &slab) }

    /// Inserts an entry behind another one; first if that is `none`.
    mutating func insert(_ slot: Slot, after previous: Slot, in slab: inout Slab) {
        let next = previous == .none ? first : slab[previous].next
        slab[slot].previous = previous
        slab[slot].next = next
        if previous == .none { first = slot } else { slab[previous].next = slot }
        if next == .none { last = slot } else { slab[next].previous = slot }
        count += 1
    }

    mutating func remove(_ slot: Slot, in slab: inout Slab) {
        let (previous, next) = (slab[slot].previous, slab[slot].next)
        if previous == .none { first = next } else { slab[previous].next = next }
        if next == .none { last = previous } else { slab[next].previous = previous }
        count -= 1
    }

    /// The entry behind another one; the first entry if that is `none`.
    func next(after slot: Slot, in slab: Slab) -> Slot { slot == .none ? first : slab[slot].next }
}

/// The three lists through the entries; each entry is in one of them.
struct RevisionLists: Sendable {
    enum Name: Int, CaseIterable {
        /// Running and paused.
        case live
        /// Ended and kept: the history.
        case ended
        /// Ended and not kept: only until the scans that were open at that time have visited it.
        case forgotten

        /// The list of an entry.
        init(of entry: Entry) {
            self = entry.isLive ? .live : entry.forget ? .forgotten : .ended
        }
    }

    private var lists = InlineArray<3, RevisionList>(repeating: RevisionList())

    subscript(_ name: Name) -> RevisionList {
        get { lists[name.rawValue] }
        _modify { yield &lists[name.rawValue] }
    }
}
