import Testing

@testable import CountdownCore

@Suite("Cooldowns that are started together, or not at all")
struct StartAllTests {
    var scene = RunningTimetable()

    private func cooldown(
        _ text: String,
        _ seconds: Int64 = 10,
        upTo: Int64? = nil,
        label: String? = nil
    ) -> Request.Start {
        let ifLive: Request.IfLive = upTo == nil ? .fail : .extend
        return .init(
            key(text),
            .after(.seconds(seconds)),
            ifLive: ifLive,
            label: label,
            upTo: upTo.map { .seconds($0) }
        )
    }

    @discardableResult
    private func startAll(_ cooldowns: Request.Start..., dryRun: Bool = false) throws(Refusal) -> CooldownsOutcome {
        try scene.timetable.startAll(cooldowns, dryRun: dryRun, at: scene.now)
    }

    private var observation: Observation {
        Observation(of: scene.timetable, at: scene.now, under: ["a", "b", "c"].map(key))
    }

    // MARK: All or none

    @Test("all are accepted, in their order, with consecutive revisions and at one instant")
    func accepted() throws {
        try scene.start("b", seconds: 60)
        let outcome = try startAll(cooldown("a"), cooldown("b", 20, upTo: 90), cooldown("c"))
        #expect(outcome.isAccepted)
        #expect(outcome.changes.map(\.countdown.key.text) == ["a", "b", "c"])
        #expect(outcome.changes.map(\.kind) == [.started, .adjusted, .started])
        #expect(outcome.changes.map(\.countdown.revision.number) == [2, 3, 4])
        #expect(outcome.rooms.map(\.key.text) == ["a", "b", "c"])
        #expect(outcome.rooms.map(\.left) == [0, 0, 0])
        #expect(outcome.rooms.map(\.countdown) == [scene["a"], scene["b"], scene["c"]])
        #expect(outcome.rooms[0].countdown?.started == outcome.rooms[2].countdown?.started)
        #expect(outcome.retryAfter == nil)
        #expect(scene.remaining("b") == .seconds(80))
    }

    @Test("if one has no room, none is started, and the first budget is not spent on the second one's refusal")
    func refused() throws {
        try scene.start("c", seconds: 60)
        try scene.start("b", seconds: 10)
        let before = observation
        let outcome = try startAll(cooldown("a"), cooldown("b", 10, upTo: 30), cooldown("c"))
        #expect(!outcome.isAccepted && outcome.changes.isEmpty)
        #expect(observation == before)
        #expect(outcome.rooms.map(\.left) == [1, 2, 0])
        #expect(outcome.rooms.map(\.more) == [nil, .seconds(10), .seconds(60)])
        #expect(outcome.rooms[0].countdown == nil)
        #expect(outcome.retryAfter == .seconds(60))
        scene.pass(.seconds(60) - .microseconds(1))
        scene.endDue()
        #expect(try !startAll(cooldown("a"), cooldown("b", 10, upTo: 30), cooldown("c")).isAccepted)
        scene.pass(.microseconds(1))
        scene.endDue()
        #expect(try startAll(cooldown("a"), cooldown("b", 10, upTo: 30), cooldown("c")).isAccepted)
    }

    @Test("without a cooldown, nothing is refused")
    func none() throws {
        let outcome = try startAll()
        #expect(outcome.isAccepted && outcome.rooms.isEmpty)
    }

    // MARK: Refusals without a time

    @Test("a paused key with room is accepted; only a paused key without room leaves the time unknown")
    func paused() throws {
        try scene.start("a", seconds: 10)
        try scene.ask(.pause(key("a")))
        #expect(try startAll(cooldown("a", 10, upTo: 20), cooldown("b", 60)).isAccepted)
        var refused = try startAll(cooldown("a", 10, upTo: 30), cooldown("b", 60))
        #expect(!refused.isAccepted && refused.retryAfter == .seconds(60))
        #expect(refused.rooms.map(\.left) == [1, 0])
        #expect(refused.rooms.map(\.more) == [nil, .seconds(60)])
        refused = try startAll(cooldown("a", 10, upTo: 20), cooldown("b", 60))
        #expect(!refused.isAccepted && refused.retryAfter == nil)
        #expect(refused.rooms.map(\.left) == [0, 0])
    }

    @Test("if starts queue for a key, it is refused without a time, and nothing is left")
    func queued() throws {
        try scene.start("a", seconds: 10)
        let outcome = try scene.timetable.startAll([cooldown("a", 10, upTo: 90)], at: scene.now) { _ in 1 }
        #expect(!outcome.isAccepted && outcome.retryAfter == nil)
        #expect(outcome.rooms.map(\.left) == [0])
        #expect(outcome.rooms.map(\.more) == [nil])
    }

    // MARK: Errors

    @Test("an invalid parameter of any comes before a limit of any, and that before a refusal, in every order")
    func errors() throws {
        scene.timetable.limits.countdowns = 1
        try scene.start("a", seconds: 60)
        let (refused, new, invalid) = (cooldown("a"), cooldown("b"), cooldown("c", 10, upTo: 9))
        let before = observation
        for order in [[refused, new, invalid], [invalid, new, refused], [new, invalid, refused]] {
            #expect(throws: Refusal.outOfRange(.upTo)) { try scene.timetable.startAll(order, at: scene.now) }
        }
        for order in [[refused, new], [new, refused]] {
            #expect(throws: Refusal.limitReached(.countdowns, maximum: 1)) {
                try scene.timetable.startAll(order, at: scene.now)
            }
        }
        #expect(observation == before)
    }

    @Test("the texts of all together are limited, in every order")
    func texts() throws {
        let long = String(repeating: "x", count: 68)
        scene.timetable.limits.textBytesInAll = 200
        try scene.start("a", .after(.seconds(10)), label: long)
        try scene.start("b", .after(.seconds(10)), label: "x")
        let before = observation
        let (shorter, longer) = (cooldown("a", 1, upTo: 99, label: "x"), cooldown("b", 1, upTo: 99, label: long + long))
        for order in [[shorter, longer], [longer, shorter]] {
            #expect(throws: Refusal.limitReached(.textBytesInAll, maximum: 200)) {
                try scene.timetable.startAll(order, at: scene.now)
            }
        }
        #expect(observation == before)
        let other = cooldown("b", 1, upTo: 99, label: long)
        for order in [[shorter, other], [other, shorter]] {
            #expect(try scene.timetable.startAll(order, dryRun: true, at: scene.now).isAccepted)
        }
        #expect(scene.timetable.limits.textBytesInAll == 200)
    }

    // MARK: What is left

    @Test("a call that weighs more takes more, and what remains counts under a changed limit")
    func weights() throws {
        #expect(try startAll(cooldown("a", 30, upTo: 100)).rooms[0].left == 2)
        #expect(try startAll(cooldown("a", 10, upTo: 100), dryRun: true).rooms[0].left == 7)
        #expect(try startAll(cooldown("a", 10, upTo: 50), dryRun: true).rooms[0].left == 2)
        #expect(try startAll(cooldown("a", 10, upTo: 30), dryRun: true).rooms[0].left == 0)
    }

    @Test("no more is left than 100 years have room for")
    func century() throws {
        let year = Duration.years(1)
        let start = Request.Start(key("a"), .after(year), ifLive: .extend, upTo: .microseconds(.max))
        #expect(try startAll(start, dryRun: true).rooms[0].left == 100)
        for left in (0..<100).reversed() { #expect(try startAll(start).rooms[0].left == Int64(left)) }
        #expect(throws: Refusal.outOfRange(.duration)) { try startAll(start) }
        scene.pass(year)
        #expect(try startAll(start, dryRun: true).rooms[0].left == 1)
    }
}
