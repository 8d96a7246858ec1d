/// The name of a walk.
public struct WalkID: Hashable, Sendable {
    let number: UInt64
}

/// A walk through what is known, in the order of revisions, in portions, while all goes on changing.
///
/// A countdown that changes meanwhile moves to the end, and is met there as it is then. So whoever has walked to the end
/// has met everything up to the current revision.
public struct Walk: Sendable {
    /// Where a walk through one of the lists begins.
    public enum Start: Hashable, Sendable {
        /// At the oldest entry.
        case oldest
        /// Behind all entries up to this revision.
        case after(Revision)
        /// The list is passed over.
        case nowhere
    }

    /// What becomes of a walk that has been carried on.
    public enum Progress: Equatable, Sendable {
        /// The portion was used up, or who was met wanted no more.
        case more
        /// All has been met up to the current revision.
        case atEnd
        /// An ending was let go before the walk came to it.
        case missed
    }

    struct Place: Sendable {
        let start: Start
        /// The last entry that was met, none before the first.
        var slot: Slot
        /// Whether the place of the start is still being looked for, from the newest entry on.
        var isSeeking: Bool
        /// Up to this revision there is nothing to be met any more.
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
    /// Opens a walk. It costs memory until `close` is called.
    ///
    /// Where it meets the endings after a revision, it also meets those from now on that are to be forgotten, which are
    /// kept for it. A walk through all endings that happen to be kept does not: it can miss none.
    public mutating func openWalk(live: Walk.Start, ended: Walk.Start) -> WalkID {
        lastWalk = WalkID(number: lastWalk.number + 1)
        var forgotten = Walk.Start.nowhere
        if case .after = ended { forgotten = .after(revision) }
        let starts = [live, ended, forgotten]
        let places = zip(Lists.Name.allCases, starts).map { Walk.Place(start: $1, last: lists[$0].last) }
        for place in places { stand(on: place.slot) }
        walks[lastWalk] = Walk(places: places)
        return lastWalk
    }

    /// Ends a walk and lets go of what was kept for it; nothing happens where it has ended.
    public mutating func closeWalk(_ id: WalkID) {
        guard let walk = walks.removeValue(forKey: id) else { return }
        for place in walk.places { leave(place.slot) }
    }

    /// Carries a walk on.
    ///
    /// - Parameters:
    ///   - id: of an open walk.
    ///   - limit: how many entries at most; less what was met or passed afterwards.
    ///   - meet: is given each entry, in the timetable as it is meanwhile; false ends the portion behind it.
    /// - Returns: whether there is more to meet.
    public mutating func walk(_ id: WalkID, limit: inout Int, meet: (Timetable, Slot) -> Bool) -> Walk.Progress {
        guard var walk = walks[id] else { return .missed }
        for place in walk.places { leave(place.slot) }
        defer {
            for place in walk.places { stand(on: place.slot) }
            walks[id] = walk
        }
        guard !misses(walk) else { return .missed }
        for name in Lists.Name.allCases { seek(&walk.places[name.rawValue], limit: &limit) }
        guard !walk.places.contains(where: \.isSeeking) else { return .more }
        while limit > 0 {
            guard let (name, slot) = next(of: walk) else { return .atEnd }
            limit -= 1
            walk.places[name.rawValue].slot = slot
            walk.places[name.rawValue].passed = slab[slot].revision
            guard meet(self, slot) else { return .more }
        }
        return .more
    }

    /// Goes back to where a place's start is.
    private func seek(_ place: inout Walk.Place, limit: inout Int) {
        guard place.isSeeking, case .after(let revision) = place.start else { return }
        while place.slot != .none, slab[place.slot].revision > revision {
            guard limit > 0 else { return }
            limit -= 1
            place.slot = slab[place.slot].previous
        }
        place.isSeeking = false
    }

    /// The entry with the least revision of those that come next in each list.
    private func next(of walk: Walk) -> (Lists.Name, Slot)? {
        var least: (name: Lists.Name, slot: Slot)?
        for name in Lists.Name.allCases {
            let place = walk.places[name.rawValue]
            guard place.start != .nowhere else { continue }
            var slot = lists[name].next(after: place.slot, in: slab)
            // A change that was taken back has put its entry where the walk has been.
            while slot != .none, slab[slot].revision <= place.passed { slot = slab[slot].next }
            guard slot != .none else { continue }
            if let known = least, slab[known.slot].revision < slab[slot].revision { continue }
            least = (name, slot)
        }
        return least.map { ($0.name, $0.slot) }
    }

    /// Whether an entry was let go that a walk with a place in history would have met.
    private func misses(_ walk: Walk) -> Bool {
        Lists.Name.allCases.contains { name in
            guard case .after = walk.places[name.rawValue].start else { return false }
            return lists[name].released > walk.places[name.rawValue].passed
        }
    }

    // MARK: Entries that walks stand on

    private mutating func stand(on slot: Slot) {
        if slot != .none { walkers[slot, default: 0] += 1 }
    }

    private mutating func leave(_ slot: Slot) {
        guard let count = walkers[slot] else { return }
        walkers[slot] = count == 1 ? nil : count - 1
    }

    /// Moves walks from an entry that is about to leave its list to the one before it.
    mutating func stepBack(from slot: Slot, in name: Lists.Name) {
        let previous = slab[slot].previous
        for id in walks.keys {
            guard let place = walks[id]?.places[name.rawValue], place.slot == slot else { continue }
            leave(slot)
            stand(on: previous)
            walks[id]?.places[name.rawValue].slot = previous
        }
    }
}
