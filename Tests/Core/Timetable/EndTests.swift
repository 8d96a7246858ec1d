import CountdownCore
import TestSupport
import Testing

@Suite("Ends")
struct EndTests {
    var scene = RunningTimetable()

    @Test(
        "come at the deadline, not before",
        arguments: [Request.End.after(.seconds(60)), .at(SimulatedClocks().now.wall + .seconds(60))]
    )
    mutating func due(end: Request.End) throws {
        let deadline = scene.now.wall + .seconds(60)
        try scene.start("k", end)
        #expect(scene.timetable.nextDeadline(at: scene.now) == deadline)
        scene.pass(.seconds(60) - .microseconds(1))
        #expect(scene.timetable.isDue(at: scene.now) == false)
        #expect(scene.endDue().isEmpty)
        scene.pass(.microseconds(1))
        #expect(scene.timetable.isDue(at: scene.now) == true)
        let change = try #require(scene.endDue().first)
        #expect(change.kind == .finished)
        #expect(change.replaced == Revision(1))
        #expect(change.countdown == scene["k"])
        #expect(change.countdown.phase == .finished(at: deadline, late: .zero))
        #expect(scene.timetable.liveCount == 0)
        #expect(scene.timetable.nextDeadline(at: scene.now) == nil)
    }

    @Test("are returned once")
    mutating func once() throws {
        try scene.start("k")
        scene.pass(.seconds(60))
        #expect(scene.endDue().count == 1)
        scene.pass(.days(1))
        #expect(scene.endDue().isEmpty)
    }

    @Test("are at the deadline, however late they are noticed, and have that lateness")
    mutating func late() throws {
        let deadline = scene.now.wall + .seconds(60)
        try scene.start("elapsed")
        try scene.start("wall", .at(deadline))
        scene.pass(.hours(8) + .seconds(60))
        for change in scene.endDue() {
            #expect(change.countdown.phase == .finished(at: deadline, late: .hours(8)))
            #expect(change.countdown.ended == deadline)
            #expect(change.countdown.remaining(at: scene.now) == .zero)
        }
    }

    @Test("come in the order of their deadlines over both clocks, however late")
    mutating func order() throws {
        var generator = SeededGenerator(seed: 5)
        let start = scene.now
        var expected: [(end: Duration, key: Key)] = []
        for (index, seconds) in (1...200).shuffled(using: &generator).enumerated() {
            let span = Duration.seconds(Int64(seconds))
            try scene.start("\(index)", .random(using: &generator) ? .after(span) : .at(start.wall + span))
            expected.append((span, key("\(index)")))
        }
        scene.pass(.hours(1))
        #expect(scene.endDue().map(\.countdown.key) == expected.sorted { $0.end < $1.end }.map(\.key))
    }

    @Test("at one deadline come in the order in which they were started, over both clocks")
    mutating func ties() throws {
        let end = scene.now.wall + .seconds(60)
        let names = (0..<50).map { "\($0)" }
        for (index, name) in names.enumerated() {
            try scene.start(name, index.isMultiple(of: 3) ? .at(end) : .after(.seconds(60)))
        }
        scene.pass(.seconds(60))
        #expect(scene.endDue().map(\.countdown.key.text) == names)
    }

    @Test("at one deadline come in that order though their revisions lie far apart")
    mutating func tiesFarApart() throws {
        let end = scene.now.wall + .seconds(60)
        for name in ["a", "b", "c"] {
            try scene.start(name, .at(end))
            let later = Revision(scene.timetable.revision.number + 1_500_000_000)
            scene.timetable.resume(at: later, oldest: Revision(0), gaps: [], now: scene.now)
        }
        scene.pass(.seconds(60))
        #expect(scene.endDue().map(\.countdown.key.text) == ["a", "b", "c"])
    }

    @Test("at one deadline come in the order of their last change")
    mutating func tiesAfterChange() throws {
        for name in ["a", "b", "c"] { try scene.start(name) }
        try scene.ask(.adjust(key("a"), .by(.seconds(5))))
        try scene.ask(.adjust(key("a"), .by(-.seconds(5))))
        scene.pass(.seconds(60))
        #expect(scene.endDue().map(\.countdown.key.text) == ["b", "c", "a"])
    }

    // MARK: A clock that is set

    static let steps: [Duration] = [.hours(1), -.hours(1), .years(10), -.years(10)]

    @Test("on the boot clock come when the time has elapsed, even if the system clock is set", arguments: steps)
    mutating func elapsedOverStep(step: Duration) throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        scene.clocks.setWall(by: step)
        #expect(scene.remaining("k") == .seconds(40))
        #expect(scene.timetable.nextDeadline(at: scene.now) == scene.now.wall + .seconds(40))
        #expect(scene.endDue().isEmpty)
        scene.pass(.seconds(40))
        #expect(scene.endDue().map(\.countdown.phase) == [.finished(at: scene.now.wall, late: .zero)])
    }

    @Test("on the system clock come when that clock reaches the deadline", arguments: steps)
    mutating func wallOverStep(step: Duration) throws {
        let deadline = scene.now.wall + .minutes(90)
        try scene.start("k", .at(deadline))
        scene.clocks.setWall(by: step)
        let left = Duration.minutes(90) - step
        #expect(scene.remaining("k") == max(.zero, left))
        #expect(scene.timetable.nextDeadline(at: scene.now) == deadline)
        if left > .zero {
            scene.pass(left - .microseconds(1))
            #expect(scene.endDue().isEmpty)
            scene.pass(.microseconds(1))
        }
        #expect(scene.endDue().map(\.countdown.phase) == [.finished(at: deadline, late: max(.zero, -left))])
    }

    @Test("change their order if the clock is set in between")
    mutating func orderOverStep() throws {
        try scene.start("wall", .at(scene.now.wall + .seconds(90)))
        try scene.start("elapsed", seconds: 60)
        #expect(scene.timetable.nextDeadline(at: scene.now) == scene.now.wall + .seconds(60))
        scene.clocks.setWall(by: .seconds(31))
        #expect(scene.timetable.nextDeadline(at: scene.now) == scene.now.wall + .seconds(59))
        scene.pass(.seconds(60))
        #expect(scene.endDue().map(\.countdown.key.text) == ["wall", "elapsed"])
    }

    @Test("that fell into a suspend come on waking, with that lateness")
    mutating func suspend() throws {
        let deadline = scene.now.wall + .seconds(60)
        try scene.start("k")
        scene.pass(.hours(9))
        #expect(scene.endDue().map(\.countdown.phase) == [.finished(at: deadline, late: .hours(9) - .seconds(60))])
    }

    // MARK: Restart

    @Test("of a restarted key come for the new countdown only")
    mutating func restarted() throws {
        try scene.start("k", seconds: 10)
        scene.pass(.seconds(5))
        try scene.start("k", .after(.seconds(60)), .restart)
        scene.pass(.seconds(5))
        #expect(scene.endDue().isEmpty)
        scene.pass(.seconds(55))
        #expect(scene.endDue().count == 1)
        try scene.start("k", seconds: 10)
        #expect(scene.timetable.endedCount == 1)
        scene.pass(.seconds(10))
        #expect(scene.endDue().count == 1)
        #expect(scene.timetable.endedCount == 2)
        #expect(scene["k"]?.revision == Revision(5))
    }
}
