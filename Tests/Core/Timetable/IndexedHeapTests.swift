import TestSupport
import Testing

@testable import CountdownCore

@Suite("A heap whose elements have numbers")
struct IndexedHeapTests {
    @Test("is empty at first, and removing an element that it does not have changes nothing")
    func empty() {
        var heap = IndexedHeap()
        #expect(heap.first == nil)
        heap.remove(5)
        #expect(heap.count == 0)
    }

    @Test("returns the least element, and of equal ones the first in order")
    func order() {
        var heap = IndexedHeap()
        let order: [Int32: Int64] = [0: 3, 1: 1, 2: 2, 3: .max, 4: .min]
        for (id, instant) in [(0, 5), (1, 5), (2, 5), (3, 4), (4, 6)] as [(Int32, Int64)] {
            heap.set(id, at: instant) { order[$0, default: 0] }
        }
        #expect(heap.instant(of: 4) == 6)
        #expect(heap.instant(of: 5) == nil)
        #expect(heap.drain(order) == [3, 1, 2, 0, 4])
    }

    /// The maximum too, which stands for an element that does not exist.
    private static let instants = Array(-20...20) + [.min, .max, .max - 1] as [Int64]

    @Test("agrees with a sorted list, whatever is inserted, moved and removed", arguments: 1...4)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = IndexedHeap()
        var order: [Int32: Int64] = [:]
        var model: [Int32: (instant: Int64, order: Int64)] = [:]
        for step in 0..<4_000 {
            let id = Int32.random(in: 0..<200, using: &generator)
            if Int.random(in: 0..<3, using: &generator) == 0 {
                heap.remove(id) { order[$0, default: 0] }
                model[id] = nil
            } else {
                let instant = Self.instants.randomElement(using: &generator) ?? 0
                order[id] = Int64(step)
                heap.set(id, at: instant) { order[$0, default: 0] }
                model[id] = (instant, Int64(step))
            }
            #expect(heap.count == model.count)
            let least = model.min { ($0.value.instant, $0.value.order) < ($1.value.instant, $1.value.order) }
            #expect(heap.first?.id == least?.key)
            #expect(heap.first?.instant == least?.value.instant)
            #expect(heap.instant(of: id) == model[id]?.instant)
        }
        let sorted = model.sorted { ($0.value.instant, $0.value.order) < ($1.value.instant, $1.value.order) }
        #expect(heap.drain(order) == sorted.map(\.key))
    }
}

extension IndexedHeap {
    fileprivate mutating func drain(_ order: [Int32: Int64]) -> [Int32] {
        var ids: [Int32] = []
        while let first {
            ids.append(first.id)
            remove(first.id) { order[$0, default: 0] }
        }
        return ids
    }
}
