import FleetWire
import Testing

@Suite("The engine's clock")
struct EngineTimeTests {
    @Test("the sample with the least error counts, and errors grow with age")
    func leastError() {
        var clock = OffsetEstimate()
        #expect(clock.add(engine: 1_000_100, sent: 0, received: 200) == 0)
        #expect(clock.offset(at: 200) == .init(engineLessBootUSec: 1_000_000, errorUSec: 101))
        // A worse one that agrees changes nothing.
        #expect(clock.add(engine: 1_001_000, sent: 1_000, received: 2_000) == nil)
        #expect(clock.offset(at: 2_000)?.engineLessBootUSec == 1_000_000)
        #expect(clock.offset(at: 10_000_200)?.errorUSec == 1_101)
        // A minute later it is better, because the old one has aged.
        #expect(clock.add(engine: 61_002_000, sent: 60_000_000, received: 60_002_000) == nil)
        #expect(clock.offset(at: 60_002_000) == .init(engineLessBootUSec: 1_001_000, errorUSec: 1_001))
    }

    @Test("a step is noticed at once, and told if it is more than 1 ms")
    func steps() {
        var clock = OffsetEstimate()
        _ = clock.add(engine: 1_000_050, sent: 0, received: 100)
        #expect(clock.add(engine: 6_000_550, sent: 1_000, received: 1_100) == 4_999_500)
        #expect(clock.add(engine: 6_001_950, sent: 2_000, received: 2_100) == nil)
        #expect(clock.offset(at: 2_100)?.engineLessBootUSec == 5_999_900)
    }

    @Test("after the engine was lost the next sample counts, whatever its error is")
    func lost() {
        var clock = OffsetEstimate()
        _ = clock.add(engine: 1_000_050, sent: 0, received: 100)
        clock.invalidate()
        #expect(clock.offset(at: 100) == .init(engineLessBootUSec: 1_000_000, errorUSec: 51))
        #expect(clock.add(engine: 2_050_000, sent: 0, received: 100_000) == 1_000_000)
        #expect(clock.offset(at: 100_000) == .init(engineLessBootUSec: 2_000_000, errorUSec: 50_001))
    }
}
