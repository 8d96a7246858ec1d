/// The deadlines of all running countdowns: a heap for each clock.
struct Deadlines: Sendable {
    fileprivate var elapsed = IndexedHeap()
    fileprivate var wall = IndexedHeap()

    /// Sets the deadline of an entry whose countdown is running in this phase; removes the deadline of any other entry.
    mutating func set(_ phase: Phase, of slot: Slot, in slab: inout Slab) {
        switch phase {
        case .running(.elapsed(let instant)):
            wall.remove(slot.index) { slab.order(of: $0) }
            elapsed.set(slot.index, at: instant.microseconds) { slab.order(of: $0) }
        case .running(.wall(let instant)):
            elapsed.remove(slot.index) { slab.order(of: $0) }
            wall.set(slot.index, at: instant.microseconds) { slab.order(of: $0) }
        case .paused, .finished, .cancelled: remove(slot, in: &slab)
        }
    }

    /// Removes the deadline of an entry; nothing happens if it has none.
    mutating func remove(_ slot: Slot, in slab: inout Slab) {
        elapsed.remove(slot.index) { slab.order(of: $0) }
        wall.remove(slot.index) { slab.order(of: $0) }
    }

    /// The earliest deadline, as the system clock is set now; nil if no countdown runs.
    func next(at now: Now) -> WallInstant? {
        let elapsed = elapsed.first.map { now.wall(of: BootInstant(microseconds: $0.instant)) }
        let wall = wall.first.map { WallInstant(microseconds: $0.instant) }
        return earliest(elapsed, wall)
    }

    /// The entry with the earliest deadline that has come; of equal ones, the entry with the lowest revision.
    func firstDue(at now: Now, in slab: inout Slab) -> Slot? {
        guard let next = next(at: now), next <= now.wall else { return nil }
        let elapsed = elapsed.first.flatMap { first in
            now.wall(of: BootInstant(microseconds: first.instant)) == next ? first.id : nil
        }
        let wall = wall.first.flatMap { first in first.instant == next.microseconds ? first.id : nil }
        guard let elapsed, let wall else { return (elapsed ?? wall).map(Slot.init) }
        return Slot(index: slab.order(of: wall) < slab.order(of: elapsed) ? wall : elapsed)
    }
}

extension Slab {
    /// Of two equal deadlines, the one of the lower revision comes first.
    fileprivate func order(of id: Int32) -> Int64 { self[Slot(index: id)].revision.number }
}

/// Iterates over the running countdowns in the order of their deadlines without changing the heaps: after an element, only its
/// children in the heap become candidates for the next one.
struct DeadlineOrder {
    private let deadlines: Deadlines
    private let now: Now
    /// Elements of both heaps that may be the next one, by their numbers in `heap`.
    private var candidates: [(slot: Slot, isWall: Bool, position: Int, order: Int64)] = []
    private var heap = IndexedHeap()

    init(of deadlines: Deadlines, in slab: Slab, at now: Now) {
        (self.deadlines, self.now) = (deadlines, now)
        append(0, isWall: false, in: slab)
        append(0, isWall: true, in: slab)
    }

    /// The next countdown; nil behind the last one.
    mutating func next(in slab: Slab) -> Slot? {
        guard let first = heap.first else { return nil }
        heap.remove(first.id) { candidates[Int($0)].order }
        let found = candidates[Int(first.id)]
        for child in IndexedHeap.children(of: found.position) { append(child, isWall: found.isWall, in: slab) }
        return found.slot
    }

    private mutating func append(_ position: Int, isWall: Bool, in slab: Slab) {
        guard let element = (isWall ? deadlines.wall : deadlines.elapsed).element(at: position) else { return }
        let slot = Slot(index: element.id)
        let instant = isWall ? element.instant : now.wall(of: BootInstant(microseconds: element.instant)).microseconds
        candidates.append((slot, isWall, position, slab.order(of: element.id)))
        heap.set(Int32(truncatingIfNeeded: candidates.count - 1), at: instant) { candidates[Int($0)].order }
    }
}
