import CountdownCore
import TestSupport
import Testing

@testable import countdownd

/// A clock that `#expect` can read, although each reading changes it.
private final class ReadableClock {
    private var clock = EngineClock()

    func hold(_ offset: Duration) { clock.hold(offset) }
    func follow(_ offset: Duration) { clock.follow(offset, systemOffset: EngineClockTests.systemOffset) }
    func now(at boot: BootInstant) -> Now? { clock.now(at: boot)?.now }
    func wall(at boot: BootInstant) throws -> WallInstant { try #require(now(at: boot)).wall }
    func step(at boot: BootInstant) throws -> Duration? {
        let reading = clock.now(at: boot)
        return try #require(reading).step
    }
}

@Suite("The clock of a fleet's engine")
struct EngineClockTests {
    /// The system clock, some day in 2025, less the boot clock.
    fileprivate static let systemOffset = Duration.seconds(1_750_000_000)

    private func boot(_ seconds: Int64) -> BootInstant { BootInstant(microseconds: seconds * 1_000_000) }

    @Test("is not known before the engine was reached")
    func unknown() {
        let clock = ReadableClock()
        #expect(clock.now(at: boot(1)) == nil)
    }

    @Test("is the boot clock plus the offset, and a difference of less than 100 ms from the system clock is no step")
    func follows() throws {
        let clock = ReadableClock()
        let offset = Self.systemOffset + .milliseconds(99)
        clock.follow(offset)
        #expect(clock.now(at: boot(10)) == Now(boot: boot(10), offset: offset))
        #expect(try clock.step(at: boot(10)) == nil)
    }

    @Test("goes ahead at once, and stands still in place of going back by less than 100 ms")
    func neverGoesBack() throws {
        let clock = ReadableClock()
        clock.follow(Self.systemOffset)
        let before = try clock.wall(at: boot(10))
        clock.follow(Self.systemOffset - .milliseconds(60))
        #expect(try clock.wall(at: boot(10) + .milliseconds(20)) == before)
        #expect(try clock.wall(at: boot(10) + .milliseconds(60)) == before)
        #expect(try clock.wall(at: boot(10) + .milliseconds(70)) == before + .milliseconds(10))
        clock.follow(Self.systemOffset)
        #expect(try clock.wall(at: boot(10) + .milliseconds(70)) == before + .milliseconds(70))
    }

    @Test("was set if it moves by 100 ms, also if it does so little by little; each step is reported once")
    func steps() throws {
        let clock = ReadableClock()
        clock.follow(Self.systemOffset - .seconds(3))
        #expect(try clock.step(at: boot(10)) == .seconds(-3))
        #expect(try clock.step(at: boot(11)) == nil)
        let offset = Self.systemOffset - .seconds(3)
        clock.follow(offset - .milliseconds(60))
        #expect(try clock.step(at: boot(12)) == nil)
        clock.follow(offset - .milliseconds(120))
        #expect(try clock.step(at: boot(12)) == .milliseconds(-120))
        #expect(clock.now(at: boot(12))?.offset == offset - .milliseconds(120))
    }

    @Test("goes on from what an earlier daemon held, whatever the system clock is set to meanwhile")
    func holds() throws {
        let clock = ReadableClock()
        clock.hold(Self.systemOffset - .seconds(5))
        #expect(try clock.wall(at: boot(10)) == WallInstant(microseconds: 1_750_000_005 * 1_000_000))
        clock.follow(Self.systemOffset - .seconds(5))
        #expect(try clock.step(at: boot(11)) == nil)
    }

    @Test("takes the place of the system clock, so that steps of that do not count")
    func replacesSystemClock() throws {
        let machine = DrivenTime()
        var clocks = Clocks(machine.source, followsEngine: true)
        let offset = machine.now.offset + .milliseconds(50)
        clocks.follow(engineOffset: offset)
        #expect(clocks.now().now.offset == offset)
        machine.pass(.seconds(1), thenSetBy: .seconds(3_600))
        let (now, step) = clocks.now()
        #expect(step == nil)
        #expect(now == Now(boot: machine.now.boot, offset: offset))
        #expect(clocks.engineLead == .milliseconds(50) - .seconds(3_600))
        #expect(clocks.systemTime(at: now.wall) == machine.now.wall)
    }
}
