import CountdownCore

/// Items with the instants at which they are due. There are few of them, at most one for each connection, so they are sorted.
struct Agenda<Line: ClockLine, Item: Equatable> {
    /// The latest instant first; of equal ones, the one that was added last.
    private var entries: [(instant: Instant<Line>, item: Item)] = []

    /// The earliest instant; nil if nothing is due.
    var next: Instant<Line>? { entries.last?.instant }

    /// Adds an item. Items that are due at the same instant keep their order.
    mutating func add(_ item: Item, at instant: Instant<Line>) {
        let index = entries.firstIndex(bisecting: { $0.instant <= instant })
        entries.insert((instant, item), at: index)
    }

    /// Takes the first item whose instant has come.
    mutating func takeDue(at now: Instant<Line>) -> Item? {
        guard let last = entries.last, last.instant <= now else { return nil }
        return entries.removeLast().item
    }

    /// Removes an item, whenever it is due.
    mutating func remove(_ item: Item) { entries.removeAll { $0.item == item } }
}
