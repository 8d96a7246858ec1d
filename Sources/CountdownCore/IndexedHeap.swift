/// A 4-ary heap of instants whose elements can be found, moved and removed by their number.
///
/// Four children per node mean half the levels of a binary heap, and the children are adjacent in one or two cache lines. An
/// element takes 12 bytes in the heap, and 4 in the table of positions.
public struct IndexedHeap: Sendable {
    private static let absent: Int32 = -1

    /// Four adjacent elements. Instants are microseconds on the clock of the heap.
    private struct Siblings: Sendable {
        /// The maximum for an element that does not exist.
        var instants = InlineArray<4, Int64>(repeating: .max)
        var ids = InlineArray<4, Int32>(repeating: absent)

        @inline(__always)
        mutating func put(_ instant: Int64, _ id: Int32, at sibling: Int) {
            instants[sibling] = instant
            ids[sibling] = id
        }
    }

    /// The children of element `n` are family `n + 1`; the root is the last of the first family.
    private var families = ChunkedArray<Siblings>()
    private var positions = ChunkedArray<Int32>()
    private(set) var count = 0

    /// An empty heap.
    public init() {}

    /// The element with the first instant.
    public var first: (instant: Int64, id: Int32)? { count == 0 ? nil : place(at: 0) }

    /// The instant of the element with a number; nil if the heap has no such element.
    public func instant(of id: Int32) -> Int64? { position(of: id).map { place(at: $0).instant } }

    /// Inserts an element, or moves the element with this number.
    ///
    /// - Parameters:
    ///   - id: the number.
    ///   - instant: the instant.
    ///   - order: a number that is less if an element comes first of those with the same instant.
    public mutating func set(_ id: Int32, at instant: Int64, order: (Int32) -> Int64 = { _ in 0 }) {
        while positions.count <= Int(id) { positions.append(Self.absent) }
        if let position = position(of: id) {
            sink(instant, id, from: position, order)
        } else {
            if Self.place(of: count).family == families.count { families.append(Siblings()) }
            count += 1
            rise(instant, id, from: count - 1, order)
        }
    }

    /// Removes the element with a number, if the heap has it.
    public mutating func remove(_ id: Int32, order: (Int32) -> Int64 = { _ in 0 }) {
        guard let position = position(of: id) else { return }
        positions[Int(id)] = Self.absent
        count -= 1
        let last = place(at: count)
        let (family, sibling) = Self.place(of: count)
        families[family].put(.max, Self.absent, at: sibling)
        if sibling == 0 { _ = families.removeLast() }
        if position < count { sink(last.instant, last.id, from: position, order) }
    }

    private func position(of id: Int32) -> Int? {
        guard Int(id) < positions.count, positions[Int(id)] != Self.absent else { return nil }
        return Int(positions[Int(id)])
    }

    /// Puts an element at a position, or above or below it as the order requires.
    ///
    /// It first goes all the way down without comparisons: most often it is the former last element and belongs there.
    private mutating func sink(_ instant: Int64, _ id: Int32, from start: Int, _ order: (Int32) -> Int64) {
        var position = start
        while position * 4 + 1 < count {
            let siblings = families[position + 1]
            let least = Self.least(of: siblings, order)
            put(siblings.instants[least], siblings.ids[least], at: position)
            position = position * 4 + 1 + least
        }
        rise(instant, id, from: position, order)
    }

    private mutating func rise(_ instant: Int64, _ id: Int32, from start: Int, _ order: (Int32) -> Int64) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 4
            let above = place(at: parent)
            guard instant < above.instant || instant == above.instant && order(id) < order(above.id)
            else { break }
            put(above.instant, above.id, at: position)
            position = parent
        }
        put(instant, id, at: position)
    }

    /// The sibling that comes first.
    ///
    /// All four are compared, whether they exist or not, so that only equal instants need a branch.
    @inline(__always)
    private static func least(of siblings: Siblings, _ order: (Int32) -> Int64) -> Int {
        let least = min(
            min(siblings.instants[0], siblings.instants[1]),
            min(siblings.instants[2], siblings.instants[3])
        )
        var found = 0
        for sibling in 0..<4 { found |= siblings.instants[sibling] == least ? 1 << sibling : 0 }
        var first = found.trailingZeroBitCount
        found &= found &- 1
        guard found != 0 else { return first }
        var firstOrder = order(siblings.ids[first])
        while found != 0 {
            let next = found.trailingZeroBitCount
            found &= found &- 1
            guard siblings.ids[next] != absent else { break }
            let nextOrder = order(siblings.ids[next])
            if nextOrder < firstOrder { (first, firstOrder) = (next, nextOrder) }
        }
        return first
    }

    @inline(__always)
    private static func place(of position: Int) -> (family: Int, sibling: Int) {
        ((position + 3) >> 2, (position + 3) & 3)
    }

    /// The positions of the children of an element.
    static func children(of position: Int) -> ClosedRange<Int> { position * 4 + 1...position * 4 + 4 }

    /// The element at a position; nil behind the last one.
    func element(at position: Int) -> (instant: Int64, id: Int32)? { position < count ? place(at: position) : nil }

    @inline(__always)
    private func place(at position: Int) -> (instant: Int64, id: Int32) {
        let (family, sibling) = Self.place(of: position)
        return (families[family].instants[sibling], families[family].ids[sibling])
    }

    @inline(__always)
    private mutating func put(_ instant: Int64, _ id: Int32, at position: Int) {
        let (family, sibling) = Self.place(of: position)
        families[family].put(instant, id, at: sibling)
        positions[Int(id)] = Int32(truncatingIfNeeded: position)
    }
}
