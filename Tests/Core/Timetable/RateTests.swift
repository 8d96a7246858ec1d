import Testing

@testable import CountdownCore

@Suite("A start that may leave at most so much time")
struct RateTests {
    var scene = RunningTimetable()

    private func start(_ seconds: Int64, upTo: Duration?, _ ifLive: Request.IfLive = .extend) -> Request {
        .start(.init(key("k"), .after(.seconds(seconds)), ifLive: ifLive, upTo: upTo))
    }

    // MARK: Refusals

    @Test("changes neither label nor metadata if there is no room")
    mutating func noRoom() throws {
        try scene.start("k", .after(.seconds(10)), label: "tea", metadata: ["a": "b"])
        let before = try #require(scene["k"])
        let more = Request.Start(
            key("k"),
            .after(.seconds(10)),
            ifLive: .extend,
            label: "coffee",
            metadata: [:],
            upTo: .seconds(19)
        )
        #expect(throws: Refusal.alreadyRunning(before, retryAfter: .seconds(1))) { try scene.ask(.start(more)) }
        #expect(scene["k"] == before)
        scene.pass(.seconds(1))
        try scene.ask(.start(more))
        #expect(scene["k"]?.label == "coffee")
        #expect(scene.remaining("k") == .seconds(19))
    }

    @Test("of a paused countdown compares the frozen time, and cannot say when to try again")
    mutating func paused() throws {
        try scene.start("k", seconds: 10)
        scene.pass(.seconds(4))
        try scene.ask(.pause(key("k")))
        scene.pass(.hours(1))
        let paused = try #require(scene["k"])
        #expect(throws: Refusal.alreadyRunning(paused, retryAfter: nil)) {
            try scene.ask(start(10, upTo: .seconds(15)))
        }
        #expect(throws: Refusal.alreadyRunning(paused, retryAfter: nil)) { try scene.start("k", nil, .fail) }
        try scene.ask(start(10, upTo: .seconds(16)))
        #expect(scene["k"]?.phase == .paused(remaining: .seconds(16)))
    }

    @Test("fails with the remaining time if ifRunning is fail")
    mutating func fails() throws {
        try scene.start("k", seconds: 10)
        scene.pass(.seconds(4))
        let running = try #require(scene["k"])
        #expect(throws: Refusal.alreadyRunning(running, retryAfter: .seconds(6))) { try scene.start("k", nil, .fail) }
    }

    @Test("of a wall countdown compares the time that remains as the system clock is set now")
    mutating func wall() throws {
        try scene.start("k", .at(scene.now.wall + .seconds(100)))
        let running = try #require(scene["k"])
        #expect(throws: Refusal.alreadyRunning(running, retryAfter: .seconds(60))) {
            try scene.ask(start(10, upTo: .seconds(50)))
        }
        scene.clocks.setWall(by: .seconds(59))
        #expect(throws: Refusal.alreadyRunning(running, retryAfter: .seconds(1))) {
            try scene.ask(start(10, upTo: .seconds(50)))
        }
        scene.clocks.setWall(by: .seconds(1))
        try scene.ask(start(10, upTo: .seconds(50)))
        #expect(scene["k"]?.phase == .running(until: .wall(scene.now.wall + .seconds(50))))
    }

    // MARK: Behind others

    private func decision(_ request: Request) throws -> Decision {
        try scene.timetable.decide(request, at: scene.now, queued: 1)
    }

    @Test("is refused without a time if other starts wait for the key, although there is room")
    mutating func behindOthers() throws {
        try scene.start("k", seconds: 10)
        let running = try #require(scene["k"])
        for request in [start(10, upTo: .hours(1)), .start(.init(key("k"), ifLive: .fail))] {
            #expect(throws: Refusal.alreadyRunning(running, retryAfter: nil)) { try decision(request) }
        }
        for request in [start(10, upTo: nil), .start(.init(key("k"), ifLive: .restart))] {
            guard case .change = try decision(request) else {
                Issue.record("\(request) is allowed")
                continue
            }
        }
    }

    @Test("waits behind others although there is room, and until a change")
    mutating func waitsBehindOthers() throws {
        try scene.start("k", seconds: 10)
        guard case .wait(until: nil) = try decision(start(10, upTo: .hours(1), .wait)) else {
            Issue.record("it waits")
            return
        }
    }

    @Test("that waits can be served when exactly that much remains, on the clock of the countdown")
    mutating func waitsUntil() throws {
        try scene.start("k", seconds: 100)
        let due = try dueOfWait()
        #expect(due == .elapsed(scene.now.boot + .seconds(60)))
        try scene.ask(.adjust(key("k"), .to(scene.now.wall + .seconds(200))))
        #expect(try dueOfWait() == .wall(scene.now.wall + .seconds(160)))
        try scene.ask(.pause(key("k")))
        #expect(try dueOfWait() == nil)
        try scene.ask(.resume(key("k")))
        scene.pass(.seconds(160) - .microseconds(1))
        #expect(try dueOfWait() == .elapsed(scene.now.boot + .microseconds(1)))
        scene.pass(.microseconds(1))
        try scene.ask(start(10, upTo: .seconds(50), .wait))
        #expect(scene.remaining("k") == .seconds(50))
    }

    private func dueOfWait() throws -> CountdownCore.Deadline? {
        guard case .wait(let due) = try scene.timetable.decide(start(10, upTo: .seconds(50), .wait), at: scene.now)
        else {
            Issue.record("it waits")
            return nil
        }
        return due
    }
}
