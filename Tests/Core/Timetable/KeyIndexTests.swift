import Glibc
import TestSupport
import Testing

@testable import CountdownCore

@Suite("The index of keys")
struct KeyIndexTests {
    @Test("agrees with a dictionary, however many keys come and go", arguments: 1...3)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var slab = Slab()
        var index = KeyIndex()
        var model: [Key: Slot] = [:]
        for step in 0..<20_000 {
            // Fewer and fewer keys, so that the tables grow first and are emptied later.
            let name = Self.name(.random(in: 0..<max(50, 5_000 - step / 4), using: &generator))
            if Int.random(in: 0..<5, using: &generator) < (step < 10_000 ? 1 : 3) {
                index.remove(KeyIndex.place(of: name)) { slab.isKey(name, at: $0) }
                if let slot = model.removeValue(forKey: name) { slab.free(slot) }
            } else {
                let slot = slab.insert(.under(name))
                let before = index.set(KeyIndex.place(of: name), to: slot) { slab.isKey(name, at: $0) }
                #expect(before == model[name])
                if let before { slab.free(before) }
                model[name] = slot
            }
        }
        #expect(!model.isEmpty)
        let isSame = (0..<5_000).map(Self.name).allSatisfy { name in
            index.slot(at: KeyIndex.place(of: name)) { slab.isKey(name, at: $0) } == model[name]
        }
        #expect(isSame)
    }

    /// Some are too long for their entries.
    private static func name(_ number: Int) -> Key {
        key("\(number)" + String(repeating: "-", count: number % 30))
    }

    @Test("is empty at first, and removing an element that it does not have changes nothing")
    func empty() {
        var index = KeyIndex()
        let place = KeyIndex.place(of: key("tea"))
        #expect(index.remove(place) { _ in true } == nil)
        #expect(index.slot(at: place) { _ in true } == nil)
    }

    @Test(
        "puts a key into another place in each process, so that clients cannot choose keys that collide",
        .disabled(if: unsafe getenv("SWIFT_DETERMINISTIC_HASHING") != nil, "SWIFT_DETERMINISTIC_HASHING is set")
    )
    func seed() async throws {
        let places = try [await placesElsewhere(), await placesElsewhere()]
        #expect(places.allSatisfy { $0.contains("places: [") })
        #expect(places[0] != places[1])
    }

    /// The output of a process of its own.
    private func placesElsewhere() async throws -> String {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            print("places:", ["tea", "coffee", "login/+8613800138000", "a"].map { KeyIndex.place(of: key($0)) })
        }
        return String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
    }
}

@Suite("An array of chunks")
struct ChunkedArrayTests {
    @Test("agrees with an array across the edges of its chunks")
    func random() {
        var generator = SeededGenerator(seed: 1)
        var chunked = ChunkedArray<Int>()
        var model: [Int] = []
        for target in [5_000, 0, 1_024, 1_023, 1_025, 0, 3_000] {
            while model.count != target {
                if model.count < target {
                    let number = Int.random(in: 0..<1_000, using: &generator)
                    chunked.append(number)
                    model.append(number)
                } else {
                    #expect(chunked.removeLast() == model.removeLast())
                }
                #expect(chunked.count == model.count)
            }
            for position in model.indices {
                chunked[position] += 1
                model[position] += 1
            }
            #expect(model.indices.allSatisfy { chunked[$0] == model[$0] })
        }
    }
}

extension KeyedCountdown {
    fileprivate static func under(_ key: Key) -> KeyedCountdown {
        KeyedCountdown(
            key: key,
            phase: .paused(remaining: .zero),
            clock: .elapsed,
            duration: .zero,
            started: WallInstant(microseconds: 0),
            revision: Revision(0)
        )
    }
}
