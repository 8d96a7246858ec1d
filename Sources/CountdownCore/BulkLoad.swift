/// Restored countdowns that are not in the index yet.
///
/// The keys of a store are spread over the whole index, so inserting them one by one waits for memory each time, which takes
/// longer than everything else. So they are inserted in bulk, one table of the index after the other.
struct BulkLoad: Sendable {
    private var entries: [(place: KeyIndex.Place, slot: Slot)] = []
    /// The revisions of countdowns that a later row replaced.
    var replaced: [Revision] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty && replaced.isEmpty }

    mutating func append(_ slot: Slot, _ place: KeyIndex.Place) { entries.append((place, slot)) }

    /// Removes all entries, and sorts them by their tables, stably; a few entries are not sorted.
    /// - Returns: the entries, and the number of them for each table; no numbers if they are not sorted.
    mutating func take() -> (entries: [(place: KeyIndex.Place, slot: Slot)], counts: [Int]) {
        defer { entries = [] }
        guard entries.count > KeyIndex.tableCount else { return (entries, []) }
        var counts = [Int](repeating: 0, count: KeyIndex.tableCount)
        for entry in entries { counts[Int(entry.place.table)] += 1 }
        var next = counts
        var sum = 0
        for table in next.indices { (next[table], sum) = (sum, sum + next[table]) }
        var sorted = entries
        for entry in entries {
            sorted[next[Int(entry.place.table)]] = entry
            next[Int(entry.place.table)] += 1
        }
        return (sorted, counts)
    }
}
