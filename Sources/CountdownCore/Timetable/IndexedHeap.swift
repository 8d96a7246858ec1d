/// A 4-ary heap of instants whose elements can be found, moved and removed by their number.
///
/// Four children a node: half the levels of a binary heap, and they share a cache line or two.
struct IndexedHeap: Sendable {
    struct Element: Sendable {
        /// Microseconds, on whatever line the heap is for.
        var instant: Int64
        /// Among equal instants the smaller comes first.
        var order: Int64
        let id: Int32

        static func < (left: Element, right: Element) -> Bool {
            left.instant != right.instant ? left.instant < right.instant : left.order < right.order
        }
    }

    private static let absent: Int32 = -1

    private var elements = ChunkedArray<Element>()
    private var positions = ChunkedArray<Int32>()

    var first: Element? { count == 0 ? nil : elements[0] }
    var count: Int { elements.count }

    /// Puts an element in, or moves the one that is there under this number.
    mutating func set(_ id: Int32, at instant: Int64, order: Int64) {
        while positions.count <= Int(id) { positions.append(Self.absent) }
        let element = Element(instant: instant, order: order, id: id)
        let position = Int(positions[Int(id)])
        if position >= 0 {
            settle(element, at: position)
        } else {
            elements.append(element)
            rise(element, from: elements.count - 1)
        }
    }

    /// Takes an element out; nothing happens where there is none under this number.
    mutating func remove(_ id: Int32) {
        guard Int(id) < positions.count, positions[Int(id)] >= 0 else { return }
        let position = Int(positions[Int(id)])
        positions[Int(id)] = Self.absent
        let last = elements.removeLast()
        if position < elements.count { settle(last, at: position) }
    }

    private mutating func settle(_ element: Element, at position: Int) {
        if position > 0, element < elements[(position - 1) / 4] {
            rise(element, from: position)
        } else {
            sink(element, from: position)
        }
    }

    private mutating func rise(_ element: Element, from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 4
            guard element < elements[parent] else { break }
            put(elements[parent], at: position)
            position = parent
        }
        put(element, at: position)
    }

    private mutating func sink(_ element: Element, from start: Int) {
        var position = start
        while true {
            let firstChild = position * 4 + 1
            guard firstChild < elements.count else { break }
            var least = firstChild
            for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, elements.count))
            where elements[child] < elements[least] {
                least = child
            }
            guard elements[least] < element else { break }
            put(elements[least], at: position)
            position = least
        }
        put(element, at: position)
    }

    private mutating func put(_ element: Element, at position: Int) {
        elements[position] = element
        positions[Int(element.id)] = Int32(truncatingIfNeeded: position)
    }
}
