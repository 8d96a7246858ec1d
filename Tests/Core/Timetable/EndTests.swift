import CountdownCore
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
}
