import CountdownCore

/// Items with the instants at which they are due. There are few of them, at most one for each connection, so they are sorted.
struct Agenda<Line: ClockLine, Item: Equatable> {
    private struct DueItem {
        let instant: Instant<Line>
        let item: Item
    }

    /// The latest instant first; of equal ones, the one that was added last.
    private var entries: [DueItem] = []

    /// The earliest instant; nil if nothing is due.
    var next: Instant<Line>? { entries.last?.instant }

    /// Adds an item. Items that are due at the same instant keep their order.
    mutating func add(_ item: Item, at instant: Instant<Line>) {
        entries.insert(DueItem(instant: instant, item: item), at: index(of: instant))
    }

    /// Takes the first item whose instant has come.
    mutating func takeDue(at now: Instant<Line>) -> Item? {
        guard let last = entries.last, last.instant <= now else { return nil }
        return entries.removeLast().item
    }

    /// Removes an item that was added at this instant.
    mutating func remove(_ item: Item, at instant: Instant<Line>) {
        var index = index(of: instant)
        while index < entries.count, entries[index].instant == instant {
            if entries[index].item == item { entries.remove(at: index) } else { index += 1 }
        }
    }

    /// Removes an item, whenever it is due.
    mutating func remove(_ item: Item) { entries.removeAll { $0.item == item } }

    /// The first index whose instant is not later.
    private func index(of instant: Instant<Line>) -> Int { entries.firstIndex(bisecting: { $0.instant <= instant }) }
}
