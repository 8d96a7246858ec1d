import CountdownCore
import Testing

@Suite("Durations and instants")
struct InstantTests {
    private static let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test("sums and differences saturate", arguments: ends, ends)
    func saturation(left: Int64, right: Int64) {
        let (a, b) = (Duration(microseconds: left), Duration(microseconds: right))
        let instant = WallInstant(microseconds: left)
        let sum = clamped(Int128(left) + Int128(right))
        let difference = clamped(Int128(left) - Int128(right))
        #expect((a + b).microseconds == sum)
        #expect((instant + b).microseconds == sum)
        #expect((a - b).microseconds == difference)
        #expect((instant - b).microseconds == difference)
        #expect((instant - WallInstant(microseconds: right)).microseconds == difference)
    }

    @Test("seconds and milliseconds saturate", arguments: ends)
    func units(count: Int64) {
        #expect(Duration.seconds(count).microseconds == clamped(Int128(count) * 1_000_000))
        #expect(Duration.milliseconds(count).microseconds == clamped(Int128(count) * 1_000))
    }

    @Test("both clocks have the same instant, apart by the offset, and saturate")
    func now() {
        let now = Now(boot: BootInstant(microseconds: 5), offset: .microseconds(10))
        #expect(now.wall == WallInstant(microseconds: 15))
        #expect(now.wall(of: BootInstant(microseconds: 7)) == WallInstant(microseconds: 17))
        #expect(Now(boot: BootInstant(microseconds: .max), offset: .microseconds(1)).wall.microseconds == .max)
        #expect(Now(boot: BootInstant(microseconds: .min), offset: -.microseconds(1)).wall.microseconds == .min)
    }

    @Test("a deadline that has passed has a negative remaining time")
    func remaining() {
        let now = SimulatedClocks().now
        #expect(Deadline.elapsed(now.boot - .seconds(2)).remaining(at: now) == -.seconds(2))
        #expect(Deadline.wall(now.wall + .seconds(2)).remaining(at: now) == .seconds(2))
    }

    @Test("a deadline on the boot clock moves on the system clock if that is set, and the other way round")
    func wallOfDeadline() {
        var clocks = SimulatedClocks()
        let elapsed = Deadline.elapsed(clocks.now.boot + .seconds(60))
        let wall = Deadline.wall(clocks.now.wall + .seconds(60))
        let end = clocks.now.wall + .seconds(60)
        clocks.setWall(by: .seconds(10))
        #expect(elapsed.remaining(at: clocks.now) == .seconds(60))
        #expect(elapsed.wall(at: clocks.now) == end + .seconds(10))
        #expect(wall.remaining(at: clocks.now) == .seconds(50))
        #expect(wall.wall(at: clocks.now) == end)
    }

    private func clamped(_ number: Int128) -> Int64 {
        Int64(clamping: number)
    }
}
