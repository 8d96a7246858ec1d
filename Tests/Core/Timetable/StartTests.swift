import CountdownCore
import Testing

@Suite("Start")
struct StartTests {
    var scene = RunningTimetable()

    @Test("without a duration takes 60 s on the boot clock")
    mutating func defaultDuration() throws {
        try scene.start("k")
        let countdown = try #require(scene["k"])
        #expect(countdown.phase == .running(until: .elapsed(scene.now.boot + .seconds(60))))
        #expect(countdown.clock == .elapsed)
        #expect(countdown.duration == .seconds(60))
        #expect(countdown.started == scene.now.wall)
        #expect(countdown.revision == Revision(1))
        #expect(countdown.ended == nil)
        #expect(countdown.metadata.isEmpty)
        #expect(countdown.label == nil)
        #expect(!countdown.forget)
    }

    @Test("until an instant follows the system clock, and has the duration until then")
    mutating func deadline() throws {
        let end = scene.now.wall + .seconds(90)
        try scene.start("k", .at(end))
        let countdown = try #require(scene["k"])
        #expect(countdown.phase == .running(until: .wall(end)))
        #expect(countdown.clock == .wall)
        #expect(countdown.duration == .seconds(90))
    }

    // MARK: Ranges

    @Test(
        "takes a duration of 1 µs to 100 years",
        arguments: [.microseconds(1), .seconds(60), .years(100) - .microseconds(1), .years(100)] as [Duration]
    )
    mutating func lengthInRange(duration: Duration) throws {
        try scene.start("k", .after(duration))
        #expect(scene.remaining("k") == duration)
        #expect(scene["k"]?.duration == duration)
    }

    @Test(
        "refuses any other duration, whatever ifRunning is",
        arguments: [.zero, -.microseconds(1), .microseconds(.min), .years(100) + .microseconds(1), .microseconds(.max)]
            as [Duration],
        [Request.IfLive.attach, .restart, .extend, .fail, .wait]
    )
    mutating func lengthOutOfRange(duration: Duration, ifLive: Request.IfLive) throws {
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", .after(duration), ifLive) }
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", .after(duration), ifLive) }
    }

    @Test(
        "refuses an instant that is not in the future, or more than 100 years ahead",
        arguments: [.zero, -.microseconds(1), -.years(300), .years(100) + .microseconds(1)] as [Duration],
        [Request.IfLive.attach, .restart, .fail]
    )
    mutating func deadlineOutOfRange(ahead: Duration, ifLive: Request.IfLive) throws {
        #expect(throws: Refusal.outOfRange(.deadline)) { try scene.start("k", .at(scene.now.wall + ahead), ifLive) }
        for microseconds in [Int64.min, .max, 1 << 53] {
            let instant = WallInstant(microseconds: microseconds)
            #expect(throws: Refusal.outOfRange(.deadline)) { try scene.start("k", .at(instant), ifLive) }
        }
        for ahead in [.microseconds(1), .years(100)] as [Duration] {
            try scene.start("k", .at(scene.now.wall + ahead), .restart)
            #expect(scene.remaining("k") == ahead)
        }
    }

    @Test("ends at 2^53 - 1 µs at the latest")
    mutating func latest() throws {
        let latest = scene.timetable.limits.latest
        scene.clocks.setWall(by: latest - .microseconds(10) - scene.now.wall)
        try scene.start("at", .at(latest))
        #expect(throws: Refusal.outOfRange(.deadline)) { try scene.start("k", .at(latest + .microseconds(1))) }
        try scene.start("after", .after(.microseconds(10)))
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", .after(.microseconds(11))) }
    }

    @Test("without a duration is refused if the default would end later than that")
    mutating func latestByDefault() throws {
        let latest = scene.timetable.limits.latest
        scene.clocks.setWall(by: latest - .seconds(60) - scene.now.wall)
        try scene.start("k")
        scene.pass(.microseconds(1))
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("l") }
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", nil, .restart) }
    }

    /// Starts that are refused whether the key is live or not, with the parameter that is out of range.
    static let invalid: [(Request.Start, Refusal.Parameter)] = {
        let (k, deadline) = (key("k"), Request.End.at(SimulatedClocks().now.wall + .seconds(9)))
        let bound = Duration.seconds(60) - .microseconds(1)
        var invalid: [(Request.Start, Refusal.Parameter)] = [
            (.init(k, ifLive: .extend, upTo: bound), .upTo), (.init(k, ifLive: .wait, upTo: bound), .upTo),
            (.init(k, deadline, ifLive: .later, maxDuration: .hours(1)), .maxDuration),
            (.init(k, ifLive: .later, maxDuration: bound), .maxDuration),
        ]
        for short in [-.seconds(1), .zero, .seconds(10) - .microseconds(1)] as [Duration] {
            for ifLive in [Request.IfLive.extend, .wait] {
                invalid.append((.init(k, .after(.seconds(10)), ifLive: ifLive, upTo: short), .upTo))
            }
            invalid.append((.init(k, .after(.seconds(10)), ifLive: .later, maxDuration: short), .maxDuration))
        }
        for upTo in [nil, Duration.hours(1)] {
            for ifLive in [Request.IfLive.extend, .wait] {
                invalid.append((.init(k, deadline, ifLive: ifLive, upTo: upTo), .deadline))
            }
        }
        for ifLive in [Request.IfLive.attach, .restart, .fail] {
            invalid.append((.init(k, .after(.seconds(10)), ifLive: ifLive, upTo: .seconds(30)), .upTo))
        }
        for ifLive in [Request.IfLive.attach, .restart, .extend, .fail, .wait] {
            invalid.append((.init(k, .after(.seconds(1)), ifLive: ifLive, maxDuration: .seconds(9)), .maxDuration))
        }
        for ifLive in [Request.IfLive.attach, .restart, .extend, .later, .fail] {
            invalid.append((.init(k, .after(.seconds(1)), ifLive: ifLive, queueUpTo: 1), .queueUpTo))
        }
        for places in [0, -1, .min] as [Int64] {
            invalid.append((.init(k, .after(.seconds(10)), ifLive: .wait, queueUpTo: places), .queueUpTo))
        }
        return invalid
    }()

    @Test("refuses parameters that do not fit each other", arguments: invalid.indices)
    mutating func invalidParameters(index: Int) throws {
        let (start, parameter) = Self.invalid[index]
        #expect(throws: Refusal.outOfRange(parameter)) { try scene.ask(.start(start)) }
        #expect(scene["k"] == nil)
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(parameter)) { try scene.ask(.start(start)) }
    }

    @Test("takes a bound that is as long as its duration")
    mutating func shortestBound() throws {
        let ten = Request.End.after(.seconds(10))
        try scene.ask(.start(.init(key("a"), ten, ifLive: .extend, upTo: .seconds(10))))
        try scene.ask(.start(.init(key("b"), ten, ifLive: .wait, upTo: .seconds(10))))
        try scene.ask(.start(.init(key("c"), ten, ifLive: .later, maxDuration: .seconds(10))))
        #expect(scene.timetable.liveCount == 3)
    }

    // MARK: The key is live

    @Test("that attaches changes nothing, whatever the call has")
    mutating func attach() throws {
        try scene.start("k", .after(.seconds(60)), label: "tea", metadata: ["a": "b"])
        scene.pass(.seconds(10))
        let before = Observation(of: scene.timetable, at: scene.now)
        #expect(try scene.start("k", .after(.seconds(5)), label: "x", metadata: [:], forget: true) == nil)
        #expect(Observation(of: scene.timetable, at: scene.now) == before)
    }

    @Test("that restarts begins again with the parameters of the call", arguments: [false, true])
    mutating func restart(paused: Bool) throws {
        try scene.start("k", .after(.seconds(60)), label: "tea", metadata: ["a": "b"])
        scene.pass(.seconds(10))
        if paused { try scene.ask(.pause(key("k"))) }
        let replaced = scene["k"]?.revision
        let change = try scene.start("k", .at(scene.now.wall + .seconds(5)), .restart, forget: true)?.change
        let countdown = try #require(scene["k"])
        #expect(change?.kind == .restarted)
        #expect(change?.replaced == replaced)
        #expect(change?.countdown == countdown)
        #expect(countdown.phase == .running(until: .wall(scene.now.wall + .seconds(5))))
        #expect(countdown.duration == .seconds(5))
        #expect(countdown.started == scene.now.wall)
        #expect(countdown.label == nil)
        #expect(countdown.metadata.isEmpty)
        #expect(countdown.forget)
        #expect(scene.timetable.liveCount == 1)
        #expect(scene.timetable.pausedCount == 0)
        #expect(scene.timetable.endedCount == 0)
    }

    @Test("that extends by its duration, or by 60 s, keeps what the call does not name")
    mutating func extend() throws {
        try scene.start("k", .after(.seconds(60)), label: "tea", metadata: ["a": "b"])
        scene.pass(.seconds(10))
        let change = try scene.start("k", .after(.seconds(5)), .extend, forget: true)?.change
        #expect(change?.kind == .adjusted)
        #expect(scene.remaining("k") == .seconds(55))
        #expect(scene["k"]?.duration == .seconds(65))
        #expect(scene["k"]?.label == "tea")
        #expect(scene["k"]?.metadata == ["a": "b"])
        #expect(scene["k"]?.forget == false)
        try scene.start("k", nil, .extend, label: "coffee", metadata: ["c": "d"])
        #expect(scene.remaining("k") == .seconds(115))
        #expect(scene["k"]?.duration == .seconds(125))
        #expect(scene["k"]?.label == "coffee")
        #expect(scene["k"]?.metadata == ["c": "d"])
    }

    @Test("that extends keeps the clock, and leaves a paused countdown paused")
    mutating func extendKeeps() throws {
        let end = scene.now.wall + .seconds(60)
        try scene.start("k", .at(end))
        try scene.start("k", .after(.seconds(5)), .extend)
        #expect(scene["k"]?.phase == .running(until: .wall(end + .seconds(5))))
        scene.pass(.seconds(10))
        try scene.ask(.pause(key("k")))
        try scene.start("k", .after(.seconds(5)), .extend)
        #expect(scene["k"]?.phase == .paused(remaining: .seconds(60)))
    }

    @Test("that extends to more than 100 years ahead is refused, to 100 years it is not")
    mutating func extendTooFar() throws {
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", .after(.years(100)), .extend) }
        try scene.start("k", .after(.years(100) - .seconds(60)), .extend)
        #expect(scene.remaining("k") == .years(100))
    }

    // MARK: Limits

    @Test("of a new key at the limit is refused, of a live one it is not")
    mutating func countdownLimit() throws {
        var limits = Limits()
        limits.countdowns = 2
        scene = RunningTimetable(limits: limits)
        try scene.start("a")
        try scene.start("b")
        try scene.ask(.pause(key("b")))
        for ifLive in [Request.IfLive.attach, .restart, .extend, .fail] {
            #expect(throws: Refusal.limitReached(.countdowns, maximum: 2)) { try scene.start("c", nil, ifLive) }
        }
        #expect(try scene.start("a") == nil)
        #expect(try scene.start("b") == nil)
        try scene.start("b", nil, .extend)
        try scene.start("b", nil, .restart)
        try scene.start("a", nil, .restart)
        try scene.ask(.cancel(key("a")))
        try scene.start("c")
        #expect(throws: Refusal.limitReached(.countdowns, maximum: 2)) { try scene.start("a") }
    }

    @Test("takes a label of 1,024 bytes, 32 pairs of metadata, 4,096 bytes of names and values, and no more")
    mutating func texts() throws {
        let long = String(repeating: "é", count: 512)
        let pairs = Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") })
        let value = String(repeating: "é", count: 2_047)
        try scene.start("a", label: long)
        try scene.start("b", metadata: Metadata(pairs.filter { $0.key != "0" }))
        try scene.start("c", metadata: ["ab": value])
        #expect(throws: Refusal.limitReached(.labelBytes, maximum: 1_024)) { try scene.start("k", label: long + ".") }
        #expect(throws: Refusal.limitReached(.metadataPairs, maximum: 32)) {
            try scene.start("k", metadata: Metadata(pairs))
        }
        #expect(throws: Refusal.limitReached(.metadataBytes, maximum: 4_096)) {
            try scene.start("k", metadata: ["abc": value])
        }
    }
}
