import Testing

@testable import CountdownCore

@Suite("A start whose later deadline wins")
struct LaterTests {
    var scene = RunningTimetable()

    private func later(
        _ duration: Duration,
        max most: Duration? = nil,
        label: String? = nil,
        metadata: Metadata? = nil
    ) -> Request {
        .start(
            .init(key("k"), .after(duration), ifLive: .later, label: label, metadata: metadata, maxDuration: most)
        )
    }

    private func later(until instant: WallInstant) -> Request {
        .start(.init(key("k"), .at(instant), ifLive: .later))
    }

    // MARK: The later deadline

    @Test("makes a longer time the remaining time, and adds the difference to the duration")
    mutating func longer() throws {
        try scene.start("k", seconds: 60)
        let started = scene["k"]?.started
        scene.pass(.seconds(20))
        let change = try scene.ask(later(.seconds(42)))?.change
        #expect(change?.kind == .adjusted)
        #expect(scene.remaining("k") == .seconds(42))
        #expect(scene["k"]?.duration == .seconds(62))
        #expect(scene["k"]?.started == started)
    }

    @Test(
        "changes nothing if the time is not longer, not even label and metadata",
        arguments: [.seconds(40), .seconds(40) - .microseconds(1), .microseconds(1)] as [Duration]
    )
    mutating func notLonger(duration: Duration) throws {
        try scene.start("k", .after(.seconds(60)), label: "tea", metadata: ["a": "b"])
        scene.pass(.seconds(20))
        let before = Observation(of: scene.timetable, at: scene.now)
        #expect(try scene.ask(later(duration, label: "coffee", metadata: [:])) == nil)
        #expect(try scene.ask(later(until: scene.now.wall + duration)) == nil)
        #expect(Observation(of: scene.timetable, at: scene.now) == before)
    }

    @Test("changes label and metadata if they are given, and keeps forget")
    mutating func annotations() throws {
        try scene.start("k", .after(.seconds(10)), label: "tea", metadata: ["a": "b"], forget: true)
        try scene.ask(later(.seconds(20)))
        #expect(scene["k"]?.label == "tea")
        #expect(scene["k"]?.metadata == ["a": "b"])
        try scene.ask(later(.seconds(30), label: "coffee", metadata: ["c": "d"]))
        #expect(scene["k"]?.label == "coffee")
        #expect(scene["k"]?.metadata == ["c": "d"])
        #expect(scene["k"]?.forget == true)
    }

    @Test("is refused if there is no room for a longer label, and only if the deadline is later")
    mutating func textBytes() throws {
        scene.timetable.limits.textBytesInAll = 100
        try scene.start("k", .after(.seconds(60)))
        let label = String(repeating: "a", count: 100)
        #expect(throws: Refusal.limitReached(.textBytesInAll, maximum: 100)) {
            try scene.ask(later(.seconds(61), label: label))
        }
        #expect(try scene.ask(later(.seconds(60), label: label)) == nil)
    }

    @Test("gives the countdown the clock of the request")
    mutating func clocks() throws {
        try scene.start("k", seconds: 10)
        try scene.ask(later(until: scene.now.wall + .seconds(30)))
        #expect(scene["k"]?.phase == .running(until: .wall(scene.now.wall + .seconds(30))))
        #expect(scene["k"]?.clock == .wall)
        try scene.ask(later(.seconds(40)))
        #expect(scene["k"]?.phase == .running(until: .elapsed(scene.now.boot + .seconds(40))))
        #expect(scene["k"]?.clock == .elapsed)
        #expect(scene["k"]?.duration == .seconds(40))
    }

    @Test("compares the remaining times at the instant of the call, also after the system clock was set")
    mutating func clockStep() throws {
        try scene.start("k", .at(scene.now.wall + .seconds(60)))
        scene.clocks.setWall(by: .seconds(30))
        #expect(try scene.ask(later(.seconds(30))) == nil)
        #expect(try scene.ask(later(.seconds(31)))?.change.kind == .adjusted)
        #expect(scene.remaining("k") == .seconds(31))
    }

    @Test("lets a paused countdown stay paused: its frozen time is compared, and grows")
    mutating func paused() throws {
        try scene.start("k", seconds: 60)
        scene.pass(.seconds(20))
        try scene.ask(.pause(key("k")))
        scene.pass(.hours(1))
        #expect(try scene.ask(later(.seconds(40))) == nil)
        try scene.ask(later(.seconds(50)))
        #expect(scene["k"]?.phase == .paused(remaining: .seconds(50)))
        #expect(scene["k"]?.duration == .seconds(70))
        let paused = try #require(scene["k"])
        for seconds in [1, 100] as [Int64] {
            #expect(throws: Refusal.wrongState(paused)) {
                try scene.ask(later(until: scene.now.wall + .seconds(seconds)))
            }
        }
    }

    @Test("does not fail because other starts wait for the key")
    mutating func queue() throws {
        try scene.start("k", seconds: 10)
        for request in [later(.seconds(20)), later(until: scene.now.wall + .seconds(20))] {
            guard case .change = try scene.timetable.decide(request, at: scene.now, queued: 3) else {
                Issue.record("\(request) is allowed")
                continue
            }
        }
    }

    // MARK: The bound

    @Test("a debounce with a bound ends: calls leave no more than the bound less the time that has run")
    mutating func debounce() throws {
        for _ in 0..<7 {
            try scene.ask(later(.seconds(10), max: .seconds(35)))
            scene.pass(.seconds(5))
        }
        #expect(scene.endDue().map(\.countdown.duration) == [.seconds(35)])
        #expect(try scene.ask(later(.seconds(10), max: .seconds(35)))?.change.kind == .started)
    }

    @Test("the last call within the bound gets the rest of it, and the next one changes nothing")
    mutating func rest() throws {
        try scene.start("k", seconds: 10)
        scene.pass(.seconds(9))
        try scene.ask(later(.seconds(10), max: .seconds(12)))
        #expect(scene.remaining("k") == .seconds(3))
        #expect(scene["k"]?.duration == .seconds(12))
        scene.pass(.seconds(1))
        #expect(try scene.ask(later(.seconds(10), max: .seconds(12))) == nil)
        #expect(try scene.ask(later(.seconds(10), max: .seconds(11))) == nil)
        #expect(scene.remaining("k") == .seconds(2))
    }

    @Test("pauses do not count, a restart begins anew, and time that another program adds is not bounded")
    mutating func boundAfterChanges() throws {
        let call = later(.seconds(10), max: .seconds(12))
        try scene.ask(call)
        scene.pass(.seconds(5))
        try scene.ask(.pause(key("k")))
        scene.pass(.hours(1))
        try scene.ask(.resume(key("k")))
        try scene.ask(call)
        #expect(scene.remaining("k") == .seconds(7))
        try scene.ask(.adjust(key("k"), .by(.seconds(60))))
        #expect(try scene.ask(call) == nil)
        #expect(scene.remaining("k") == .seconds(67))
        try scene.start("k", .after(.seconds(10)), .restart)
        scene.pass(.seconds(1))
        try scene.ask(call)
        #expect(scene.remaining("k") == .seconds(10))
    }

    // MARK: A bounded queue

    private func wait(upTo: Duration? = nil, places: Int64?) -> Request {
        .start(.init(key("k"), .after(.seconds(10)), ifLive: .wait, upTo: upTo, queueUpTo: places))
    }

    @Test("a start that finds as many in the queue as it allows is refused without a time")
    mutating func queueUpTo() throws {
        try scene.start("k", seconds: 10)
        let running = try #require(scene["k"])
        for (places, queued) in [(1, 1), (1, 2), (3, 3)] as [(Int64, Int)] {
            for upTo in [nil, Duration.hours(1)] {
                #expect(throws: Refusal.alreadyRunning(running, retryAfter: nil)) {
                    try scene.timetable.decide(wait(upTo: upTo, places: places), at: scene.now, queued: queued)
                }
            }
        }
        for (places, queued) in [(1, 0), (3, 2), (nil, 99)] as [(Int64?, Int)] {
            guard case .wait = try scene.timetable.decide(wait(places: places), at: scene.now, queued: queued) else {
                Issue.record("\(queued) queued calls leave one of \(String(describing: places)) places")
                continue
            }
        }
    }
}
