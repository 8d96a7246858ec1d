import TestSupport
import Testing

@testable import CountdownCore

@Suite("A start that may leave at most so much time")
struct RateTests {
    var scene = RunningTimetable()

    private func start(_ seconds: Int64, upTo: Duration?, _ ifLive: Request.IfLive = .extend) -> Request {
        .start(.init(key("k"), .after(.seconds(seconds)), ifLive: ifLive, upTo: upTo))
    }

    // MARK: Parameters

    @Test(
        "is refused with an ifLive that adds nothing",
        arguments: [Request.IfLive.attach, .restart, .fail]
    )
    mutating func withoutMeaning(ifLive: Request.IfLive) throws {
        #expect(throws: Refusal.outOfRange(.upTo)) { try scene.ask(start(10, upTo: .seconds(30), ifLive)) }
        #expect(scene["k"] == nil)
    }

    @Test(
        "is refused if the time is shorter than the duration",
        arguments: [-.seconds(1), .zero, .seconds(10) - .microseconds(1)] as [Duration],
        [Request.IfLive.extend, .wait]
    )
    mutating func tooShort(upTo: Duration, ifLive: Request.IfLive) throws {
        #expect(throws: Refusal.outOfRange(.upTo)) { try scene.ask(start(10, upTo: upTo, ifLive)) }
        let byDefault = Request.start(.init(key("k"), ifLive: ifLive, upTo: .seconds(60) - .microseconds(1)))
        #expect(throws: Refusal.outOfRange(.upTo)) { try scene.ask(byDefault) }
        try scene.ask(start(10, upTo: .seconds(10), ifLive))
        #expect(scene.remaining("k") == .seconds(10))
    }

    @Test("is refused with a deadline, and so is one that waits", arguments: [Request.IfLive.extend, .wait])
    mutating func deadline(ifLive: Request.IfLive) throws {
        for upTo in [nil, Duration.hours(1)] {
            let start = Request.Start(key("k"), .at(scene.now.wall + .seconds(9)), ifLive: ifLive, upTo: upTo)
            #expect(throws: Refusal.outOfRange(.deadline)) { try scene.ask(.start(start)) }
        }
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

    // MARK: Against a reference

    /// The generic cell rate algorithm by its textbook: an instant at which the bucket is empty.
    private struct Bucket {
        var emptyAt: Int64 = 0
        /// The remaining time while the countdown is paused.
        var frozen: Int64?

        /// Whether a call passes; nil, or how long it has to wait, 0 if that is unknown.
        mutating func refusal(_ now: Int64, adding duration: Int64, upTo: Int64) -> Int64? {
            let fill = frozen ?? max(0, emptyAt - now)
            guard fill + duration <= upTo else { return frozen == nil ? fill + duration - upTo : 0 }
            if frozen == nil { emptyAt = now + fill + duration } else { frozen = fill + duration }
            return nil
        }
    }

    /// Makes the timetable anew, as a restart of the daemon does.
    private func restart() {
        let stored = scene.timetable.known
        var timetable = Timetable(limits: Limits(), revision: Revision(0))
        for countdown in stored { timetable.restore(countdown) }
        #expect(timetable.flush().isEmpty)
        let (revision, oldest) = (scene.timetable.revision, scene.timetable.oldestRevision)
        timetable.resume(at: revision, oldest: oldest, gaps: [], now: scene.now)
        scene.timetable = timetable
    }

    @Test(
        "passes the calls that a bucket passes, through clock steps, pauses and restarts",
        arguments: 1...40 as ClosedRange<UInt64>
    )
    func likeABucket(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bucket = Bucket()
        // The clock of the countdown: the boot clock until it is adjusted to a deadline.
        var isWall = false
        for _ in 0..<400 {
            scene.endDue()
            // A countdown that has ended begins again on the boot clock.
            if isWall, scene["k"]?.isLive != true { (isWall, bucket) = (false, Bucket()) }
            let clock = { isWall ? scene.now.wall.microseconds : scene.now.boot.microseconds }
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<11:
                let duration = Int64.random(in: 1...5, using: &generator)
                let upTo = duration * .random(in: 1...4, using: &generator)
                let request = start(duration, upTo: .seconds(upTo))
                var expected = bucket.refusal(clock(), adding: duration * 1_000_000, upTo: upTo * 1_000_000)
                var given = retryAfter(of: request)
                try #require(given == expected)
                guard let wait = given, wait > 0, Bool.random(using: &generator) else { continue }
                // One microsecond too early it is refused again, and then it passes.
                scene.pass(.microseconds(wait - 1))
                scene.endDue()
                try #require(retryAfter(of: request) == 1)
                scene.pass(.microseconds(1))
                scene.endDue()
                if isWall, scene["k"]?.isLive != true { (isWall, bucket) = (false, Bucket()) }
                expected = bucket.refusal(clock(), adding: duration * 1_000_000, upTo: upTo * 1_000_000)
                given = retryAfter(of: request)
                try #require(given == nil && expected == nil)
            case 11..<14: scene.pass(.microseconds(.random(in: 0...4_000_000, using: &generator)))
            case 14:
                let step = Int64.random(in: -3_000_000...3_000_000, using: &generator)
                scene.clocks.setWall(by: .microseconds(step))
            case 15, 16: restart()
            case 17:
                guard let countdown = scene["k"], case .running = countdown.phase else { continue }
                try scene.ask(.pause(key("k")))
                bucket.frozen = countdown.remaining(at: scene.now).microseconds
            case 18:
                guard let frozen = bucket.frozen else { continue }
                try scene.ask(.resume(key("k")))
                isWall = false
                bucket = Bucket(emptyAt: scene.now.boot.microseconds + frozen)
            default:
                guard let countdown = scene["k"], case .running = countdown.phase else { continue }
                let end = scene.now.wall + .microseconds(.random(in: 1...9_000_000, using: &generator))
                try scene.ask(.adjust(key("k"), .to(end)))
                isWall = true
                bucket = Bucket(emptyAt: end.microseconds)
            }
        }
    }

    /// Asks, and returns nil if it passes; how long to wait; or 0 if that is unknown.
    private func retryAfter(of request: Request) -> Int64? {
        do throws(Refusal) {
            try scene.ask(request)
            return nil
        } catch {
            guard case .alreadyRunning(_, let retryAfter) = error else { return -1 }
            return retryAfter?.microseconds ?? 0
        }
    }
}
