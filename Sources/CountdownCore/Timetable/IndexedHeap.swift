/// A 4-ary heap of instants whose elements can be found, moved and removed by their number.
///
/// Four children a node: half the levels of a binary heap, and they share a cache line or two. Instants and numbers stand
/// in arrays of their own, which takes 12 bytes an element where one array would take 16.
struct IndexedHeap: Sendable {
    private static let absent: Int32 = -1

    /// Microseconds, on whatever line the heap is for.
    private var instants = ChunkedArray<Int64>()
    private var ids = ChunkedArray<Int32>()
    private var positions = ChunkedArray<Int32>()

    var first: (instant: Int64, id: Int32)? { count == 0 ? nil : (instants[0], ids[0]) }
    var count: Int { ids.count }

    /// The instant of the element under a number, nil where there is none.
    func instant(of id: Int32) -> Int64? {
        position(of: id).map { instants[$0] }
    }

    /// Puts an element in, or moves the one that is there under this number.
    mutating func set(_ id: Int32, at instant: Int64, ties: some TieBreak = NoTieBreak()) {
        while positions.count <= Int(id) { positions.append(Self.absent) }
        if let position = position(of: id) {
            settle(instant, id, at: position, ties)
        } else {
            instants.append(instant)
            ids.append(id)
            rise(instant, id, from: count - 1, ties)
        }
    }

    /// Takes an element out; nothing happens where there is none under this number.
    mutating func remove(_ id: Int32, ties: some TieBreak = NoTieBreak()) {
        guard let position = position(of: id) else { return }
        positions[Int(id)] = Self.absent
        let last = (instant: instants.removeLast(), id: ids.removeLast())
        if position < count { settle(last.instant, last.id, at: position, ties) }
    }

    private func position(of id: Int32) -> Int? {
        guard Int(id) < positions.count, positions[Int(id)] != Self.absent else { return nil }
        return Int(positions[Int(id)])
    }

    private mutating func settle(_ instant: Int64, _ id: Int32, at position: Int, _ ties: some TieBreak) {
        if position > 0, isBefore(instant, id, (position - 1) / 4, ties) {
            rise(instant, id, from: position, ties)
        } else {
            sink(instant, id, from: position, ties)
        }
    }

    private mutating func rise(_ instant: Int64, _ id: Int32, from start: Int, _ ties: some TieBreak) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 4
            guard isBefore(instant, id, parent, ties) else { break }
            put(instants[parent], ids[parent], at: position)
            position = parent
        }
        put(instant, id, at: position)
    }

    private mutating func sink(_ instant: Int64, _ id: Int32, from start: Int, _ ties: some TieBreak) {
        var position = start
        while true {
            let firstChild = position * 4 + 1
            guard firstChild < count else { break }
            var least = firstChild
            for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, count))
            where isBefore(instants[child], ids[child], least, ties) {
                least = child
            }
            guard isBefore(instants[least], ids[least], instant, id, ties) else { break }
            put(instants[least], ids[least], at: position)
            position = least
        }
        put(instant, id, at: position)
    }

    private func isBefore(_ instant: Int64, _ id: Int32, _ position: Int, _ ties: some TieBreak) -> Bool {
        isBefore(instant, id, instants[position], ids[position], ties)
    }

    private func isBefore(
        _ left: Int64,
        _ leftID: Int32,
        _ right: Int64,
        _ rightID: Int32,
        _ ties: some TieBreak
    ) -> Bool {
        left != right ? left < right : ties.isBefore(leftID, rightID)
    }

    private mutating func put(_ instant: Int64, _ id: Int32, at position: Int) {
        instants[position] = instant
        ids[position] = id
        positions[Int(id)] = Int32(truncatingIfNeeded: position)
    }
}

/// Says which of two elements with the same instant comes first.
protocol TieBreak {
    func isBefore(_ left: Int32, _ right: Int32) -> Bool
}

/// Of equal elements any may come first.
struct NoTieBreak: TieBreak {
    func isBefore(_ left: Int32, _ right: Int32) -> Bool { false }
}
