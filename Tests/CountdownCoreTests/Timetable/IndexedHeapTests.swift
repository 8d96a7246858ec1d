import Testing

@testable import CountdownCore

@Suite("A heap whose elements have numbers")
struct IndexedHeapTests {
    @Test("is empty at first, and what is not in it can be taken out")
    func empty() {
        var heap = IndexedHeap()
        #expect(heap.first == nil)
        heap.remove(5)
        #expect(heap.count == 0)
    }

    @Test("gives the least, and among equals the one that comes first in order")
    func order() {
        var heap = IndexedHeap()
        heap.set(0, at: 5, order: 3)
        heap.set(1, at: 5, order: 1)
        heap.set(2, at: 5, order: 2)
        heap.set(3, at: 4, order: .max)
        heap.set(4, at: 6, order: .min)
        #expect(heap.drain() == [3, 1, 2, 0, 4])
    }

    @Test("gives what a sorted list would, whatever is put in, moved and taken out", arguments: 1...4)
    func random(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var heap = IndexedHeap()
        var model: [Int32: (instant: Int64, order: Int64)] = [:]
        for step in 0..<4_000 {
            let id = Int32.random(in: 0..<200, using: &generator)
            if Int.random(in: 0..<3, using: &generator) == 0 {
                heap.remove(id)
                model[id] = nil
            } else {
                let instant = Int64.random(in: -20...20, using: &generator)
                heap.set(id, at: instant, order: Int64(step))
                model[id] = (instant, Int64(step))
            }
            #expect(heap.count == model.count)
            let least = model.min { ($0.value.instant, $0.value.order) < ($1.value.instant, $1.value.order) }
            #expect(heap.first?.id == least?.key)
            #expect(heap.first?.instant == least?.value.instant)
        }
        let sorted = model.sorted { ($0.value.instant, $0.value.order) < ($1.value.instant, $1.value.order) }
        #expect(heap.drain() == sorted.map(\.key))
    }
}

extension IndexedHeap {
    fileprivate mutating func drain() -> [Int32] {
        var ids: [Int32] = []
        while let first {
            ids.append(first.id)
            remove(first.id)
        }
        return ids
    }
}
