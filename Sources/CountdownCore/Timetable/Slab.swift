/// Where an entry lies; it may lie somewhere else, or be another's, once its countdown is no longer known.
public struct Slot: Hashable, Sendable {
    let index: Int32

    static let none = Slot(index: -1)
}

/// A countdown and its place among the others.
struct Entry: Sendable {
    var countdown: Countdown
    var previous = Slot.none
    var next = Slot.none
    /// Walks that stand here and have to be moved where the entry is.
    var walksHere: Int32 = 0
}

/// All entries, in slots that are used again.
struct Slab: Sendable {
    private var entries = ChunkedArray<Entry>()
    private var firstFree = Slot.none

    subscript(_ slot: Slot) -> Entry {
        get { entries[Int(slot.index)] }
        _modify { yield &entries[Int(slot.index)] }
    }

    mutating func insert(_ countdown: Countdown) -> Slot {
        guard firstFree != .none else {
            entries.append(Entry(countdown: countdown))
            return Slot(index: Int32(entries.count - 1))
        }
        let slot = firstFree
        firstFree = self[slot].next
        self[slot] = Entry(countdown: countdown)
        return slot
    }

    /// Gives the slot back. What it held goes when the slot is used again, but for its texts, which go now.
    mutating func free(_ slot: Slot) {
        self[slot].countdown.label = nil
        self[slot].countdown.metadata = [:]
        self[slot].next = firstFree
        firstFree = slot
    }
}

/// A list through the entries of a slab, in the order of their revisions.
struct RevisionList: Sendable {
    private(set) var first = Slot.none
    private(set) var last = Slot.none
    private(set) var count = 0
    /// That of the newest entry that was let go.
    var released = Revision(.min)

    mutating func append(_ slot: Slot, in slab: inout Slab) {
        insert(slot, after: last, in: &slab)
    }

    /// Puts an entry behind another, or first, where that is none.
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

    /// The entry behind another, or the first one, where that is none.
    func next(after slot: Slot, in slab: Slab) -> Slot {
        slot == .none ? first : slab[slot].next
    }
}
