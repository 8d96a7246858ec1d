import CountdownCore
import Testing

@Suite("Cancel, finish, pause and resume")
struct ChangeTests {
    var scene = RunningTimetable()

    @Test("a cancelled countdown keeps what remained, and ended at that instant")
    mutating func cancel() throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        try scene.ask(.cancel(key("k")))
        #expect(scene["k"]?.phase == .cancelled(at: scene.now.wall, remaining: .seconds(40)))
        #expect(scene["k"]?.ended == scene.now.wall)
        #expect(scene["k"]?.duration == .seconds(60))
        scene.pass(.seconds(50))
        #expect(scene.remaining("k") == .seconds(40))
        #expect(scene.endDue().isEmpty)
    }

    @Test("a countdown that a client finishes ended at that instant, with nothing remaining, and is not late")
    mutating func finish() throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        try scene.ask(.finish(key("k")))
        #expect(scene["k"]?.phase == .finished(at: scene.now.wall, late: .zero))
        #expect(scene.remaining("k") == .zero)
        #expect(scene["k"]?.duration == .seconds(60))
    }

    @Test("a paused countdown keeps the remaining time, however long it is paused and however the clock is set")
    mutating func pause() throws {
        try scene.start("k")
        scene.pass(.seconds(20))
        try scene.ask(.pause(key("k")))
        scene.pass(.days(1))
        scene.clocks.setWall(by: -.hours(5))
        #expect(scene.remaining("k") == .seconds(40))
        #expect(scene.timetable.nextDeadline(at: scene.now) == nil)
        #expect(scene.timetable.runningCount == 0)
        #expect(scene.timetable.pausedCount == 1)
        #expect(scene.endDue().isEmpty)
    }

    @Test("a resumed countdown runs for the remaining time, on the boot clock", arguments: [false, true])
    mutating func resume(wasWall: Bool) throws {
        try scene.start("k", wasWall ? .at(scene.now.wall + .seconds(60)) : nil)
        scene.pass(.seconds(20))
        try scene.ask(.pause(key("k")))
        #expect(scene["k"]?.clock == (wasWall ? .wall : .elapsed))
        scene.pass(.days(1))
        try scene.ask(.resume(key("k")))
        #expect(scene["k"]?.phase == .running(until: .elapsed(scene.now.boot + .seconds(40))))
        #expect(scene["k"]?.clock == .elapsed)
        #expect(scene["k"]?.duration == .seconds(60))
        #expect(scene.timetable.pausedCount == 0)
        #expect(scene.timetable.nextDeadline(at: scene.now) == scene.now.wall + .seconds(40))
    }

    @Test("a countdown with forget is found until its end and no longer", arguments: ["cancel", "finish", "end"])
    mutating func forget(how: String) throws {
        try scene.start("k", forget: true)
        #expect(scene["k"] != nil)
        switch how {
        case "cancel": try scene.ask(.cancel(key("k")))
        case "finish": try scene.ask(.finish(key("k")))
        default:
            scene.pass(.seconds(60))
            scene.endDue()
        }
        #expect(scene["k"] == nil)
        #expect(scene.slot(under: key("k")) == nil)
        #expect(scene.timetable.liveCount == 0)
        #expect(scene.timetable.endedCount == 0)
        #expect(scene.timetable.known.isEmpty)
    }
}
