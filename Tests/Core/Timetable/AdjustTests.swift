import CountdownCore
import Testing

@Suite("Adjust")
struct AdjustTests {
    var scene = RunningTimetable()

    @Test("adds to the remaining time and to the duration, or subtracts from them", arguments: [10, -10, 0, -39])
    mutating func by(seconds: Int64) throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        let deadline = scene.now.boot + .seconds(40)
        let change = try scene.ask(.adjust(key("k"), .by(.seconds(seconds))))?.change
        #expect(change?.kind == .adjusted)
        #expect(scene["k"]?.phase == .running(until: .elapsed(deadline + .seconds(seconds))))
        #expect(scene["k"]?.duration == .seconds(60 + seconds))
    }

    @Test("keeps the clock", arguments: [10, -10])
    mutating func keepsClock(seconds: Int64) throws {
        let end = scene.now.wall + .seconds(60)
        try scene.start("k", .at(end))
        try scene.ask(.adjust(key("k"), .by(.seconds(seconds))))
        #expect(scene["k"]?.phase == .running(until: .wall(end + .seconds(seconds))))
        #expect(scene["k"]?.clock == .wall)
    }

    @Test(
        "works while paused, on either clock",
        arguments: [Request.End.after(.seconds(60)), .at(SimulatedClocks().now.wall + .seconds(60))]
    )
    mutating func paused(end: Request.End) throws {
        try scene.start("k", end)
        scene.pass(.seconds(20))
        try scene.ask(.pause(key("k")))
        let clock = scene["k"]?.clock
        try scene.ask(.adjust(key("k"), .by(-.seconds(10))))
        #expect(scene["k"]?.phase == .paused(remaining: .seconds(30)))
        #expect(scene["k"]?.duration == .seconds(50))
        #expect(scene["k"]?.clock == clock)
    }

    @Test(
        "finishes now if nothing would remain",
        arguments: [-.seconds(40), -.seconds(41), .microseconds(.min)] as [Duration],
        [false, true]
    )
    mutating func nothingLeft(span: Duration, paused: Bool) throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        if paused { try scene.ask(.pause(key("k"))) }
        let change = try scene.ask(.adjust(key("k"), .by(span)))?.change
        #expect(change?.kind == .finished)
        #expect(scene["k"]?.phase == .finished(at: scene.now.wall, late: .zero))
        #expect(scene["k"]?.duration == .seconds(20))
        #expect(scene.timetable.liveCount == 0)
        #expect(scene.timetable.pausedCount == 0)
    }

    @Test("leaves a duration above 0, even if nothing has elapsed")
    mutating func lengthIsNeverZero() throws {
        try scene.start("k")
        try scene.ask(.adjust(key("k"), .by(-.seconds(60))))
        #expect(scene["k"]?.duration == .microseconds(1))
    }

    @Test("leads 100 years ahead at most", arguments: [false, true])
    mutating func byRange(paused: Bool) throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        if paused { try scene.ask(.pause(key("k"))) }
        let most = Duration.years(100) - .seconds(40)
        for span in [most + .microseconds(1), .microseconds(.max)] {
            #expect(throws: Refusal.outOfRange(.adjustment)) { try scene.ask(.adjust(key("k"), .by(span))) }
        }
        try scene.ask(.adjust(key("k"), .by(most)))
        #expect(scene.remaining("k") == .years(100))
    }

    @Test("leads to 2^53 - 1 µs at the latest")
    mutating func latest() throws {
        let latest = scene.timetable.limits.latest
        scene.clocks.setWall(by: latest - .seconds(100) - scene.now.wall)
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(.adjustment)) {
            try scene.ask(.adjust(key("k"), .by(.seconds(40) + .microseconds(1))))
        }
        #expect(throws: Refusal.outOfRange(.deadline)) {
            try scene.ask(.adjust(key("k"), .to(latest + .microseconds(1))))
        }
        try scene.ask(.adjust(key("k"), .by(.seconds(40))))
        try scene.ask(.adjust(key("k"), .to(latest)))
    }

    // MARK: To an instant

    @Test(
        "to an instant makes the countdown follow the system clock, and changes the duration by the difference",
        arguments: [100, 40, 1]
    )
    mutating func to(seconds: Int64) throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        let end = scene.now.wall + .seconds(seconds)
        try scene.ask(.adjust(key("k"), .to(end)))
        #expect(scene["k"]?.phase == .running(until: .wall(end)))
        #expect(scene["k"]?.clock == .wall)
        #expect(scene["k"]?.duration == .seconds(20 + seconds))
        #expect(scene.timetable.nextDeadline(at: scene.now) == end)
    }

    @Test(
        "to an instant that is not in the future, or too far ahead, is refused",
        arguments: [.zero, -.microseconds(1), .years(100) + .microseconds(1), .microseconds(.max)] as [Duration]
    )
    mutating func toRange(ahead: Duration) throws {
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(.deadline)) {
            try scene.ask(.adjust(key("k"), .to(scene.now.wall + ahead)))
        }
        try scene.ask(.adjust(key("k"), .to(scene.now.wall + .microseconds(1))))
        try scene.ask(.adjust(key("k"), .to(scene.now.wall + .years(100))))
        #expect(scene.remaining("k") == .years(100))
    }

    // MARK: The duration

    @Test("if more than the duration remains because the clock was set back, the duration at that instant is as much")
    mutating func setBack() throws {
        try scene.start("k", .at(scene.now.wall + .seconds(60)))
        scene.pass(.seconds(20))
        scene.clocks.setWall(by: -.hours(1))
        #expect(scene.remaining("k") == .hours(1) + .seconds(40))
        #expect(scene["k"]?.duration == .seconds(60))
        #expect(scene["k"]?.duration(at: scene.now) == .hours(1) + .seconds(40))
        scene.pass(.hours(1))
        #expect(scene["k"]?.duration(at: scene.now) == .seconds(60))
    }

    @Test("a duration never exceeds the integers of JSON, however often the clock is set by centuries")
    mutating func lengthStaysExact() throws {
        try scene.start("k", .after(.years(100)))
        for _ in 0..<8 {
            try scene.ask(.adjust(key("k"), .to(scene.now.wall + .years(100))))
            scene.clocks.setWall(by: .years(100) - .seconds(1))
            try scene.ask(.pause(key("k")))
            scene.clocks.setWall(by: -.years(100) + .seconds(1))
            try scene.ask(.adjust(key("k"), .by(.years(100) - .seconds(1))))
            try scene.ask(.resume(key("k")))
            let countdown = try #require(scene["k"])
            #expect(countdown.duration.microseconds < 1 << 53)
            #expect(countdown.remaining(at: scene.now) <= countdown.duration)
        }
    }
}
