import Foundation
import Testing

@Suite("Random calls, losses, deaths and failovers")
struct FleetModelTests {
    /// `SWIFT_DETERMINISTIC_HASHING=1 COUNTDOWND_SEED=7 swift test --filter FleetTests` runs one again: the order of keys in a
    /// set is part of the run.
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["COUNTDOWND_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...24)

    @Test("hosts agree, one wins, and no end is announced twice", arguments: seeds)
    func calm(seed: UInt64) throws {
        let world = World(seed: seed, World.Troubles(delay: 40_000))
        world.run(seconds: 20, calls: 400)
        try world.check()
        #expect(world.postponedTooLate == 0)
    }

    @Test("late, lost and repeated messages, and hosts that die", arguments: seeds)
    func troubled(seed: UInt64) throws {
        let world = World(seed: seed, World.Troubles(loses: true, dies: true, delay: 120_000))
        world.run(seconds: 20, calls: 400)
        try world.check()
    }

    @Test("an engine that refuses changes, and hangs", arguments: seeds)
    func refusals(seed: UInt64) throws {
        let world = World(seed: seed, World.Troubles(loses: true, refuses: true, delay: 80_000))
        world.run(seconds: 20, calls: 400)
        try world.check()
    }

    @Test("an engine that loses acknowledged changes, and a log that is trimmed", arguments: seeds)
    func failovers(seed: UInt64) throws {
        let world = World(
            seed: seed,
            World.Troubles(loses: true, refuses: true, dies: true, failsOver: true, delay: 20_000)
        )
        world.run(seconds: 20, calls: 400)
        try world.check()
    }

    @Test("an engine that loses the end of its history, which is taken back", arguments: seeds)
    func takenBack(seed: UInt64) throws {
        let world = World(
            seed: seed,
            World.Troubles(loses: true, refuses: true, dies: true, failsOver: true, takesBack: true, delay: 20_000)
        )
        world.run(seconds: 20, calls: 400)
        try world.check()
    }

    @Test("an hour of drifting clocks")
    func hour() throws {
        let world = World(seed: 60, World.Troubles())
        world.run(seconds: 3_600, calls: 2_000)
        try world.check()
        #expect(world.postponedTooLate == 0)
    }
}
