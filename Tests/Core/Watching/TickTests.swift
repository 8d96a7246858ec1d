import CountdownCore
import TestSupport
import Testing

@Suite("Ticks")
struct TickTests {
    var turns = Turns()

    private func start(_ text: String, _ span: Duration = .seconds(60)) -> Request {
        .start(.init(key(text), .after(span)))
    }

    @Test("of 60 s are 59 to 1, each at its microsecond if a countdown is alone")
    mutating func minute() {
        turns.watch(1)
        turns.sleep(for: .microseconds(123_457))
        turns.turn(start("k"))
        let started = turns.now
        turns.run(for: .seconds(70))
        let ticks = turns.ticks(heardBy: 1)
        #expect(ticks.map(\.remaining) == (1...59).reversed().map { .seconds($0) })
        #expect(ticks.map(\.at.boot) == (1...59).map { started.boot + .seconds($0) })
    }

    @Test("of two watchers come at the interval of each")
    mutating func intervals() {
        turns.watch(1, every: .seconds(1))
        turns.watch(2, every: .milliseconds(300))
        turns.watch(3, every: nil)
        turns.turn(start("k", .seconds(2)))
        turns.run(for: .seconds(3))
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == [.seconds(1)])
        #expect(
            turns.ticks(heardBy: 2).map(\.remaining) == [1_800, 1_500, 1_200, 900, 600, 300].map { .milliseconds($0) }
        )
        #expect(turns.ticks(heardBy: 3).isEmpty)
    }

    @Test("of two watchers at one interval come to both, to each from its opening on")
    mutating func sameInterval() {
        turns.watch(1)
        turns.turn(start("k", .seconds(4)))
        turns.run(for: .milliseconds(1_500))
        turns.watch(2)
        turns.run(for: .seconds(5))
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == [.seconds(3), .seconds(2), .seconds(1)])
        #expect(turns.ticks(heardBy: 2).map(\.remaining) == [.seconds(2), .seconds(1)])
    }

    @Test(
        "of 20 s are 19 to 1 though the system clock is corrected by less than a step, again and again",
        arguments: 1...4
    )
    mutating func corrections(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        turns.watch(1)
        turns.turn(.start(.init(key("k"), .at(turns.now.wall + .seconds(20)))))
        while turns.scene["k"]?.isLive == true {
            turns.run(for: .microseconds(.random(in: 1...100_000, using: &generator)))
            turns.scene.clocks.setWall(by: .microseconds(.random(in: -999...999, using: &generator)))
        }
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == (1...19).reversed().map { .seconds($0) })
    }

    // MARK: In the midst of others

    @Test("are delivered whatever starts, changes and ends in the same millisecond")
    mutating func busyMillisecond() {
        turns.watch(1)
        turns.turn(start("a", .seconds(10)))
        for round in 0..<9 {
            turns.sleep(for: .seconds(1))
            turns.turn(start("\(round)", .seconds(5) + .microseconds(Int64(round) * 100)))
            turns.run(for: .zero)
            turns.turn(.adjust(key("\(round)"), .by(.seconds(1))), .cancel(key("\(round - 3)")))
        }
        turns.run(for: .milliseconds(10))
        #expect(
            turns.ticks(heardBy: 1).filter { $0.key == key("a") }.map(\.remaining)
                == (1...9).reversed().map { .seconds($0) }
        )
    }

    @Test("that are due are delivered to the earlier watcher, though another one opens before")
    mutating func comesBeforeTold() {
        turns.watch(1)
        turns.turn(start("k", .seconds(10)))
        turns.sleep(for: .seconds(1))
        turns.watch(2)
        turns.sleep(for: .microseconds(300))
        turns.turn()
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == [.seconds(9)])
        #expect(turns.ticks(heardBy: 2).isEmpty)
    }

    @Test("continue if delivery takes longer than the interval, each the latest of its countdown")
    mutating func overload() {
        turns.watch(1)
        turns.turn(start("a", .seconds(10)), start("b", .seconds(10)), start("c", .seconds(10)))
        turns.sleep(for: .seconds(1))
        turns.turn(ticks: 1)
        turns.sleep(for: .milliseconds(1_500))
        turns.turn()
        let delivered = Dictionary(grouping: turns.ticks(heardBy: 1), by: \.key).mapValues { $0.map(\.remaining) }
        #expect(
            delivered.values.sorted { $0.count < $1.count } == [
                [.seconds(8)], [.seconds(8)], [.seconds(9), .seconds(8)],
            ]
        )
        turns.forget()
        turns.run(for: .milliseconds(500))
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == [.seconds(7), .seconds(7), .seconds(7)])
    }

    @Test("of one interval are not delayed by too many ticks of another")
    mutating func fairness() {
        turns.watch(1, .init(keys: [key("slow")], patterns: []), every: .seconds(1))
        turns.watch(2, .init(keys: [], patterns: [pattern("fast*")]), every: .milliseconds(10))
        turns.watch(3, .init(keys: [], patterns: [pattern("fast*")]), every: .milliseconds(20))
        for index in 0..<20 { turns.turn(start("fast \(index)")) }
        turns.turn(start("slow", .seconds(3)))
        while turns.scene["slow"]?.isLive == true {
            turns.sleep(for: .milliseconds(100))
            turns.turn(ticks: 10)
        }
        #expect(turns.ticks(heardBy: 1).map(\.remaining) == [.seconds(2), .seconds(1)])
        #expect(turns.ticks(heardBy: 2).count > 20)
        #expect(turns.ticks(heardBy: 3).count > 20)
    }

    @Test("of 20,000 at one instant are delivered within budgets, each once, while watchers come and go")
    mutating func manyAtOnce() throws {
        turns.watch(1)
        let count = 20_000
        for index in 0..<count { try turns.scene.start("\(index)") }
        turns.watch(1)
        turns.sleep(for: .seconds(1))
        turns.forget()
        var gone: Set<Key> = []
        var part = 0
        while let next = turns.watchers.nextTick(at: turns.now), next <= turns.now.wall {
            turns.turn(ticks: 4_096)
            part += 1
            turns.sleep(for: .microseconds(100))
            // Some countdowns with and some without a delivered tick leave, others join in the same millisecond.
            for index in stride(from: part * 7, to: count, by: 1_003) {
                gone.insert(key("\(index)"))
                turns.turn(.cancel(key("\(index)")), start("new \(part) \(index)"), ticks: 0)
            }
        }
        let delivered = turns.ticks(heardBy: 1)
        #expect(part >= count / 4_096)
        #expect(Set(delivered.map(\.key)).count == delivered.count)
        #expect(delivered.allSatisfy { $0.remaining == .seconds(59) })
        let stayed = Set((0..<count).map { key("\($0)") }).subtracting(gone)
        #expect(stayed.isSubset(of: delivered.map(\.key)))
    }

    // MARK: Receivers

    @Test("come to the watchers of the key, by its name, by a pattern or by everything")
    mutating func selections() {
        turns.watch(1, .everything)
        turns.watch(2, .init(keys: [key("tea/green")], patterns: []))
        turns.watch(3, .init(keys: [], patterns: [pattern("tea/*")]))
        turns.watch(4, .init(keys: [key("egg")], patterns: [pattern("*/green")]))
        turns.watch(5, .init(keys: [key("egg")], patterns: []))
        turns.watch(6, .init(keys: [], patterns: []))
        turns.watch(7, .init(keys: [key("egg")], patterns: [pattern("*")]))
        turns.turn(start("tea/green", .seconds(2)))
        turns.run(for: .seconds(3))
        for number in 1...7 {
            let hears = ![5, 6].contains(number)
            #expect(turns.ticks(heardBy: number).map(\.remaining) == (hears ? [.seconds(1)] : []), "\(number)")
        }
    }

    @Test("of a countdown that changes while a watcher reads the state come once it is open")
    mutating func changesWhileOpening() {
        for name in ["a", "b", "c"] { turns.turn(start(name)) }
        turns.begin(1)
        turns.scan(1, limit: 2)
        turns.sleep(for: .milliseconds(500))
        turns.turn(.adjust(key("a"), .by(.milliseconds(250))), start("d"))
        turns.sleep(for: .milliseconds(600))
        turns.turn()
        #expect(turns.ticks(heardBy: 1).isEmpty)
        turns.scan(1)
        turns.forget()
        turns.run(for: .seconds(1))
        #expect(Set(turns.ticks(heardBy: 1).map(\.key.text)) == ["a", "b", "c", "d"])
        #expect(turns.ticks(heardBy: 1).count == 4)
    }

    // MARK: Waking up

    @Test("cause no wake-up if no watcher wants them")
    mutating func nobody() {
        turns.turn(start("k"))
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
        turns.watch(1, every: nil)
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
        #expect(turns.watchers.wantsTicks == false)
        turns.watch(1)
        #expect(turns.watchers.wantsTicks == true)
        #expect(turns.watchers.nextTick(at: turns.now) == turns.now.wall + .seconds(1))
    }

    @Test("cause no wake-up after the last watcher that wants them is gone")
    mutating func gone() {
        turns.watch(1)
        turns.watch(2, every: .milliseconds(100))
        turns.watch(3, .init(keys: [key("k")], patterns: []))
        turns.watch(4, .init(keys: [], patterns: [pattern("k")]))
        turns.turn(start("k"))
        for number in 1...4 { turns.leave(number) }
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
        #expect(turns.watchers.count == 0)
        #expect(turns.watchers.isEmpty == true)
        #expect(turns.watchers.wantsTicks == false)
    }

    @Test("at a hundred intervals come at each, and cause no wake-up after the last watcher is gone")
    mutating func manyIntervals() {
        for number in 1...100 {
            let selection = number.isMultiple(of: 2) ? Selection.everything : .init(keys: [key("tea")], patterns: [])
            turns.watch(number, selection, every: .milliseconds(Int64(1_000 + number)))
        }
        turns.turn(start("tea"))
        turns.sleep(for: .seconds(2))
        turns.turn()
        #expect((1...100).allSatisfy { turns.ticks(heardBy: $0).count == 1 })
        for number in 1...100 { turns.leave(number) }
        #expect(turns.watchers.wantsTicks == false)
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
    }

    @Test("soon cause no wake-up after no watcher follows a countdown any more")
    mutating func unfollowed() {
        turns.watch(1, .init(keys: [key("k")], patterns: []))
        turns.watch(2, .init(keys: [key("other")], patterns: []))
        turns.turn(start("k"))
        turns.leave(1)
        turns.run(for: .seconds(2))
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
    }

    @Test("cause no wake-up for a countdown that is not running", arguments: ["pause", "cancel", "finish"])
    mutating func notRunning(how: String) {
        turns.watch(1)
        turns.turn(start("k"))
        switch how {
        case "pause": turns.turn(.pause(key("k")))
        case "cancel": turns.turn(.cancel(key("k")))
        default: turns.turn(.finish(key("k")))
        }
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
    }

    @Test("wake up once for a forgotten countdown, and deliver nothing for the next one in its slot")
    mutating func forgotten() {
        turns.watch(1, .init(keys: [key("k")], patterns: []))
        turns.turn(.start(.init(key("k"), forget: true)))
        turns.turn(.cancel(key("k")))
        turns.scene.compact()
        turns.turn(start("other"))
        turns.run(for: .seconds(2))
        #expect(turns.ticks(heardBy: 1).isEmpty)
        #expect(turns.watchers.nextTick(at: turns.now) == nil)
    }

    @Test(
        "at the ends of the range do not trap",
        arguments: [Int64.min, -1, 0, 1, .max],
        [Duration.milliseconds(10), .microseconds(.max)]
    )
    mutating func extremes(microseconds: Int64, interval: Duration) throws {
        turns.watch(1, every: interval)
        let deadlines: [CountdownCore.Deadline] = [
            .elapsed(BootInstant(microseconds: microseconds)), .wall(WallInstant(microseconds: microseconds)),
        ]
        for (index, deadline) in deadlines.enumerated() {
            let countdown = KeyedCountdown(
                key: key("\(index)"),
                phase: .running(until: deadline),
                clock: deadline.clock,
                duration: .seconds(1),
                started: turns.now.wall,
                revision: Revision(Int64(index) + 1)
            )
            turns.scene.timetable.restore(countdown)
            #expect(turns.scene.timetable.flush().isEmpty)
            let slot = try #require(turns.scene.slot(under: countdown.key))
            turns.watchers.schedule(slot, countdown, at: turns.now)
        }
        for _ in 0..<5 {
            turns.sleep(for: interval)
            _ = turns.watchers.nextTick(at: turns.now)
            turns.turn()
            turns.setWall(by: -.years(10))
        }
        #expect(turns.ticks(heardBy: 1).allSatisfy { $0.remaining > .zero })
    }
}
