import TestSupport
import Testing

@testable import CountdownCore

@Suite("The slab")
struct SlabTests {
    @Test("returns every countdown as it was inserted", arguments: 1...3)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var slab = Slab()
        var model: [Slot: KeyedCountdown] = [:]
        for number in 0..<3_000 {
            let countdown = KeyedCountdown.random(number, using: &generator)
            switch (Int.random(in: 0..<4, using: &generator), model.keys.randomElement(using: &generator)) {
            case (0, let slot?):
                slab.free(slot)
                model[slot] = nil
            case (1, let slot?):
                slab.set(countdown, at: slot)
                model[slot] = countdown
            default:
                model[slab.insert(countdown)] = countdown
            }
        }
        #expect(model.count > 100)
        for (slot, countdown) in model {
            #expect(slab.countdown(at: slot) == countdown)
            #expect(slab.key(at: slot) == countdown.key)
            #expect(slab.isKey(countdown.key, at: slot))
            #expect(!slab.isKey(key(countdown.key.text + "'"), at: slot))
        }
    }

    @Test("an entry that is replaced stays at its place in its list")
    func links() {
        var generator = SeededGenerator(seed: 7)
        var slab = Slab()
        var list = RevisionList()
        let slots = (0..<3).map { slab.insert(.random($0, using: &generator)) }
        for slot in slots { list.append(slot, in: &slab) }
        slab.set(.random(3, using: &generator), at: slots[1])
        #expect(list.next(after: slots[0], in: slab) == slots[1])
        #expect(list.next(after: slots[1], in: slab) == slots[2])
    }

    @Test("an entry takes 72 bytes")
    func size() {
        #expect(MemoryLayout<Entry>.stride == 72)
    }
}

extension KeyedCountdown {
    /// A random countdown under a key of 1 to 60 bytes.
    fileprivate static func random(_ number: Int, using generator: inout SeededGenerator) -> KeyedCountdown {
        func span() -> Int64 { .random(in: 0..<1_000_000, using: &generator) }
        let phases: [Phase] = [
            .running(until: .elapsed(BootInstant(microseconds: span()))),
            .running(until: .wall(WallInstant(microseconds: span()))),
            .paused(remaining: Duration(microseconds: span())),
            .finished(at: WallInstant(microseconds: span()), late: Duration(microseconds: span())),
            .cancelled(at: WallInstant(microseconds: span()), remaining: Duration(microseconds: span())),
        ]
        let padding = String(repeating: "é", count: Int.random(in: 0..<28, using: &generator))
        return KeyedCountdown(
            key: CoreTests.key("\(number)\(padding)"),
            phase: phases.randomElement(using: &generator) ?? phases[0],
            clock: Bool.random(using: &generator) ? .elapsed : .wall,
            duration: Duration(microseconds: span()),
            started: WallInstant(microseconds: span()),
            label: Bool.random(using: &generator) ? "label \(number)" : nil,
            metadata: Bool.random(using: &generator) ? ["number": "\(number)"] : [:],
            forget: Bool.random(using: &generator),
            revision: Revision(Int64(number))
        )
    }
}
