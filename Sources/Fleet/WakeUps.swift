import CountdownCore

/// Keys with the instants at which each has to be looked at. Looking at one too early does no harm, so an instant that is put
/// off costs nothing.
struct WakeUps: Sendable {
    /// The first instant of each key.
    private var instants = PartitionedDictionary<WallInstant>()
    /// An entry whose key has another instant is skipped.
    private var heap = InstantHeap<Key>()

    /// The first instant.
    var next: WallInstant? { heap.first?.instant }

    /// Lets a key be taken at an instant, or earlier if it has an earlier one.
    mutating func set(_ instant: WallInstant, for key: Key) {
        if let known = instants[key], known <= instant { return }
        instants.set(instant, under: key)
        heap.insert(key, at: instant)
    }

    /// Takes the key with the first instant, if that has come.
    mutating func takeDue(at now: WallInstant) -> Key? {
        while let first = heap.takeDue(at: now) {
            guard instants[first.element] == first.instant else { continue }
            instants.remove(first.element)
            return first.element
        }
        return nil
    }
}

/// A binary heap of elements by their instants. An element may be in it several times.
struct InstantHeap<Element: Sendable>: Sendable {
    struct Entry: Sendable {
        let instant: WallInstant
        let element: Element
    }

    private var entries = ChunkedArray<Entry>()

    /// The entry with the first instant.
    var first: Entry? { entries.count > 0 ? entries[0] : nil }

    mutating func insert(_ element: Element, at instant: WallInstant) {
        entries.append(Entry(instant: instant, element: element))
        var index = entries.count - 1
        while index > 0, entries[index].instant < entries[(index - 1) / 2].instant {
            swap(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the first entry, if its instant has come.
    mutating func takeDue(at now: WallInstant) -> Entry? {
        guard let first, first.instant <= now else { return nil }
        let last = entries.removeLast()
        guard entries.count > 0 else { return first }
        entries[0] = last
        var index = 0
        while 2 * index + 1 < entries.count {
            var child = 2 * index + 1
            if child + 1 < entries.count, entries[child + 1].instant < entries[child].instant { child += 1 }
            guard entries[child].instant < entries[index].instant else { break }
            swap(index, child)
            index = child
        }
        return first
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        let entry = entries[one]
        entries[one] = entries[other]
        entries[other] = entry
    }
}
