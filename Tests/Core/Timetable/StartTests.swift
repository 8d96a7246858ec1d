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

    @Test("takes an instant 1 µs to 100 years ahead", arguments: [.microseconds(1), .years(100)] as [Duration])
    mutating func deadlineInRange(ahead: Duration) throws {
        try scene.start("k", .at(scene.now.wall + ahead))
        #expect(scene.remaining("k") == ahead)
    }

    @Test(
        "refuses an instant that is not in the future, or too far ahead",
        arguments: [.zero, -.microseconds(1), -.years(300), .years(100) + .microseconds(1)] as [Duration],
        [Request.IfLive.attach, .restart, .fail]
    )
    mutating func deadlineOutOfRange(ahead: Duration, ifLive: Request.IfLive) {
        #expect(throws: Refusal.outOfRange(.deadline)) { try scene.start("k", .at(scene.now.wall + ahead), ifLive) }
    }

    @Test("refuses instants at the ends of the range", arguments: [Int64.min, .max, 1 << 53])
    mutating func absurdDeadline(microseconds: Int64) {
        #expect(throws: Refusal.outOfRange(.deadline)) {
            try scene.start("k", .at(WallInstant(microseconds: microseconds)))
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

    @Test("that extends a paused countdown leaves it paused")
    mutating func extendPaused() throws {
        try scene.start("k")
        scene.pass(.seconds(10))
        try scene.ask(.pause(key("k")))
        try scene.start("k", .after(.seconds(5)), .extend)
        #expect(scene["k"]?.phase == .paused(remaining: .seconds(55)))
    }

    @Test("that extends keeps the clock")
    mutating func extendWall() throws {
        let end = scene.now.wall + .seconds(60)
        try scene.start("k", .at(end))
        try scene.start("k", .after(.seconds(5)), .extend)
        #expect(scene["k"]?.phase == .running(until: .wall(end + .seconds(5))))
    }

    @Test("that extends to more than 100 years ahead is refused, to 100 years it is not")
    mutating func extendTooFar() throws {
        try scene.start("k")
        #expect(throws: Refusal.outOfRange(.duration)) { try scene.start("k", .after(.years(100)), .extend) }
        try scene.start("k", .after(.years(100) - .seconds(60)), .extend)
        #expect(scene.remaining("k") == .years(100))
    }

    @Test("that extends with an instant is refused: an instant adds nothing", arguments: [false, true])
    mutating func extendToDeadline(isLive: Bool) throws {
        if isLive { try scene.start("k") }
        #expect(throws: Refusal.outOfRange(.deadline)) {
            try scene.start("k", .at(scene.now.wall + .seconds(60)), .extend)
        }
    }

    @Test("of an ended key begins a new countdown, and the end stays in the history")
    mutating func afterEnding() throws {
        try scene.start("k", .after(.seconds(1)), label: "first")
        scene.pass(.seconds(1))
        scene.endDue()
        let change = try scene.start("k", seconds: 60)?.change
        #expect(change?.kind == .started)
        #expect(change?.replaced == nil)
        #expect(scene.timetable.liveCount == 1)
        #expect(scene.timetable.endedCount == 1)
        #expect(scene.timetable.known.map(\.revision.number) == [2, 3])
        #expect(scene["k"]?.isLive == true)
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

    @Test("takes a label of 1,024 bytes, and no byte more")
    mutating func label() throws {
        try scene.start("k", label: String(repeating: "é", count: 512))
        #expect(throws: Refusal.limitReached(.labelBytes, maximum: 1_024)) {
            try scene.start("k", label: String(repeating: "é", count: 512) + ".")
        }
    }

    @Test("takes 32 pairs of metadata, and no more")
    mutating func metadataPairs() throws {
        let pairs = Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") })
        try scene.start("k", metadata: Metadata(pairs.filter { $0.key != "0" }))
        #expect(throws: Refusal.limitReached(.metadataPairs, maximum: 32)) {
            try scene.start("l", metadata: Metadata(pairs))
        }
    }

    @Test("takes metadata of 4,096 bytes, names and values together, and no byte more")
    mutating func metadataBytes() throws {
        try scene.start("k", metadata: ["ab": String(repeating: "é", count: 2_047)])
        #expect(throws: Refusal.limitReached(.metadataBytes, maximum: 4_096)) {
            try scene.start("l", metadata: ["abc": String(repeating: "é", count: 2_047)])
        }
    }

    @Test("increases the revision by one with each change")
    mutating func revisions() throws {
        scene = RunningTimetable(revision: Revision(41))
        var seen: [Int64] = []
        seen.append(try #require(try scene.start("a")).change.countdown.revision.number)
        #expect(try scene.start("a") == nil)
        seen.append(try #require(try scene.start("b", seconds: 1)).change.countdown.revision.number)
        #expect(throws: Refusal.noSuchCountdown(key("c"))) { try scene.ask(.pause(key("c"))) }
        seen.append(try #require(try scene.ask(.pause(key("a")))).change.countdown.revision.number)
        scene.pass(.seconds(2))
        seen += scene.endDue().map(\.countdown.revision.number)
        #expect(seen == [42, 43, 44, 45])
        #expect(scene.timetable.revision == Revision(45))
    }
}
