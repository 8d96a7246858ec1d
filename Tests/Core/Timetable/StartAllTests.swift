import TestSupport
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

    @Test("a dry run changes nothing, and its rooms are the state before")
    func dryRun() throws {
        try scene.start("b", seconds: 10)
        let before = observation
        let outcome = try startAll(cooldown("a"), cooldown("b", 10, upTo: 30), dryRun: true)
        #expect(outcome.isAccepted && outcome.changes.isEmpty)
        #expect(outcome.rooms.map(\.left) == [1, 2])
        #expect(observation == before)
        #expect(try startAll(cooldown("a"), cooldown("b", 10, upTo: 30)).rooms.map(\.left) == [0, 1])
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

    @Test("two new keys and room for one countdown: none is started")
    func oneCountdownLeft() throws {
        scene.timetable.limits.countdowns = 1
        let before = observation
        #expect(throws: Refusal.limitReached(.countdowns, maximum: 1)) { try startAll(cooldown("a"), cooldown("b")) }
        #expect(observation == before)
        #expect(try startAll(cooldown("a")).isAccepted)
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

    // MARK: Start and StartAll agree

    /// A timetable with countdowns in every phase, and cooldowns of every kind, valid and invalid.
    private struct Case {
        var random: SeededGenerator
        let scene = RunningTimetable()
        var queued = 0

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            scene.timetable.limits.countdowns = [2, 4, 100].randomElement(using: &random) ?? 1
            for text in ["a", "b", "c"] where Bool.random(using: &random) {
                let end = pick([.after(seconds(90)), .at(scene.now.wall + seconds(90))] as [Request.End])
                _ = try? scene.start(text, end, label: pick([nil, "label"]))
                if chance(30) { _ = try? scene.ask(pick([.pause(key(text)), .cancel(key(text))])) }
            }
            scene.timetable.limits.textBytesInAll = pick([.max, 40, 200])
            scene.pass(seconds(60))
            scene.endDue()
            queued = chance(15) ? 2 : 0
        }

        mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 1...100, using: &random) <= percent }
        mutating func seconds(_ most: Int64) -> Duration {
            .microseconds(.random(in: 1...most * 1_000_000, using: &random))
        }

        mutating func cooldown(_ text: String) -> Request.Start {
            let duration = pick([nil, seconds(30), seconds(30), seconds(30), .zero, .years(101)])
            let upTo = pick([nil, seconds(200), seconds(200), .microseconds(.max), -seconds(3)])
            return Request.Start(
                key(text),
                duration.map { .after($0) },
                ifLive: upTo == nil ? .fail : .extend,
                label: pick([nil, nil, "longer label", String(repeating: "x", count: 1_025)]),
                forget: chance(50),
                upTo: upTo
            )
        }

        /// The same refusal, or an error.
        func start(_ start: Request.Start) -> Result<Change?, Refusal> {
            do throws(Refusal) {
                let decision = try scene.timetable.decide(.start(start), at: scene.now, queued: queued)
                guard case .change(let change) = decision else { return .success(nil) }
                return .success(change)
            } catch {
                return .failure(error)
            }
        }

        func startAll(_ starts: [Request.Start], dryRun: Bool = false) -> Result<CooldownsOutcome, Refusal> {
            Result { () throws(Refusal) in
                try scene.timetable.startAll(starts, dryRun: dryRun, at: scene.now) { _ in queued }
            }
        }
    }

    @Test("of one cooldown, Start and StartAll agree in every case")
    func agree() throws {
        var seen: [String: Int] = [:]
        for seed in 0..<4_000 as Range<UInt64> {
            var scene = try Case(seed: seed)
            let start = scene.cooldown("a")
            let before = Observation(of: scene.scene.timetable, at: scene.scene.now)
            let alone = scene.start(start)
            let dry = scene.startAll([start], dryRun: true)
            #expect(Observation(of: scene.scene.timetable, at: scene.scene.now) == before)
            let together = scene.startAll([start])
            switch alone {
            case .success(let change):
                #expect(try together.get().isAccepted && dry.get().isAccepted, "seed \(seed)")
                #expect(try together.get().changes == [change], "seed \(seed)")
                seen["\(change.map { "\($0.kind)" } ?? "")", default: 0] += 1
            case .failure(.alreadyRunning(let countdown, let retryAfter)):
                for outcome in [try together.get(), try dry.get()] {
                    #expect(!outcome.isAccepted && outcome.changes.isEmpty, "seed \(seed)")
                    #expect(outcome.retryAfter == retryAfter, "seed \(seed)")
                    #expect(outcome.rooms[0].countdown == countdown && outcome.rooms[0].left == 0, "seed \(seed)")
                    #expect(outcome.rooms[0].more == retryAfter, "seed \(seed)")
                }
                seen["refused \(retryAfter == nil)", default: 0] += 1
            case .failure(let refusal):
                for outcome in [together, dry] {
                    #expect(throws: refusal, "seed \(seed)") { try outcome.get() }
                }
                seen["\(refusal)", default: 0] += 1
            }
        }
        // Every kind occurs, so the test can fail.
        #expect(seen.count >= 9 && seen.values.allSatisfy { $0 > 10 }, "\(seen)")
    }

    @Test("as many calls are accepted as are left, one more after the time that is given, and not before")
    func leftIsRight() throws {
        var counted = 0
        for seed in 0..<1_500 as Range<UInt64> {
            var scene = try Case(seed: seed)
            scene.scene.timetable.limits.countdowns = 100
            scene.scene.timetable.limits.textBytesInAll = .max
            scene.queued = 0
            let start = scene.cooldown("a")
            guard case .success(let outcome) = scene.startAll([start], dryRun: true) else { continue }
            let room = outcome.rooms[0]
            guard room.left <= 1_000 else { continue }
            if let more = room.more {
                scene.scene.pass(more - .microseconds(1))
                #expect(try scene.startAll([start], dryRun: true).get().rooms[0].left == room.left, "seed \(seed)")
                scene.scene.pass(.microseconds(1))
                scene.scene.endDue()
                #expect(try scene.startAll([start], dryRun: true).get().rooms[0].left == room.left + 1, "seed \(seed)")
            }
            var left = try scene.startAll([start], dryRun: true).get().rooms[0].left
            while case .success(let next) = scene.startAll([start]), next.isAccepted {
                left -= 1
                #expect(next.rooms[0].left == left, "seed \(seed)")
                counted += 1
            }
            #expect(left == 0, "seed \(seed)")
        }
        #expect(counted > 1_000)
    }
}
