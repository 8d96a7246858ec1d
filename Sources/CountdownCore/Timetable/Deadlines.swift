/// The deadlines of all running countdowns: a heap for each clock.
struct Deadlines: Sendable {
    private var elapsed = IndexedHeap()
    private var wall = IndexedHeap()

    /// Puts the deadline of an entry in, or at its new place.
    mutating func set(_ deadline: Deadline, of slot: Slot, in slab: Slab) {
        switch deadline {
        case .elapsed(let instant):
            wall.remove(slot.index, ties: slab)
            elapsed.set(slot.index, at: instant.microseconds, ties: slab)
        case .wall(let instant):
            elapsed.remove(slot.index, ties: slab)
            wall.set(slot.index, at: instant.microseconds, ties: slab)
        }
    }

    /// Takes the deadline of an entry out; nothing happens where it has none.
    mutating func remove(_ slot: Slot, in slab: Slab) {
        elapsed.remove(slot.index, ties: slab)
        wall.remove(slot.index, ties: slab)
    }

    /// That of an entry, nil where it does not run.
    func deadline(of slot: Slot) -> Deadline? {
        if let instant = elapsed.instant(of: slot.index) { return .elapsed(BootInstant(microseconds: instant)) }
        return wall.instant(of: slot.index).map { .wall(WallInstant(microseconds: $0)) }
    }

    /// The earliest deadline, as the system clock is set now; nil where nothing runs.
    func next(at now: Now) -> WallInstant? {
        let elapsed = elapsed.first.map { now.wall(of: BootInstant(microseconds: $0.instant)) }
        let wall = wall.first.map { WallInstant(microseconds: $0.instant) }
        return earliest(elapsed, wall)
    }

    /// The entry whose deadline is the earliest; of equal ones the one that changed longest ago.
    func soonest(at now: Now, in slab: Slab) -> Slot? {
        let elapsed = elapsed.first.map {
            (instant: now.wall(of: BootInstant(microseconds: $0.instant)).microseconds, id: $0.id)
        }
        guard let elapsed, let wall = wall.first else { return (elapsed?.id ?? wall.first?.id).map { Slot(index: $0) } }
        let isWall =
            wall.instant != elapsed.instant ? wall.instant < elapsed.instant : slab.isBefore(wall.id, elapsed.id)
        return Slot(index: isWall ? wall.id : elapsed.id)
    }
}

/// Of two deadlines at the same instant the one that was set first comes first.
extension Slab: TieBreak {
    func isBefore(_ left: Int32, _ right: Int32) -> Bool {
        self[Slot(index: left)].revision < self[Slot(index: right)].revision
    }
}
