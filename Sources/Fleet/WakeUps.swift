import CountdownCore

/// Keys with the instants at which each must be looked at. A key can be looked at too early, so an instant that is put
/// off costs nothing.
struct WakeUps: Sendable {
    private var keys = PartitionedDictionary<Void>()
    /// The slots of the keys.
    private var heap = IndexedHeap()

    /// The first instant.
    var next: WallInstant? { heap.first.map { WallInstant(microseconds: $0.instant) } }

    /// Lets a key be taken at an instant, or earlier if it has an earlier one.
    mutating func set(_ instant: WallInstant, for key: Key) {
        let slot = keys.set((), under: key)
        if let known = heap.instant(of: slot.index), known <= instant.microseconds { return }
        heap.set(slot.index, at: instant.microseconds)
    }

    /// Takes the key with the first instant, if that has come.
    mutating func takeDue(at now: WallInstant) -> Key? {
        guard let first = heap.first, first.instant <= now.microseconds, let key = keys[Slot(index: first.id)]?.key
        else {
            return nil
        }
        heap.remove(first.id)
        keys.remove(key)
        return key
    }
}
