import CountdownCore
import Testing

@Suite("Undo")
struct UndoTests {
    var scene = RunningTimetable(revision: Revision(7))

    /// One countdown of each kind among others, so that places in lists and heaps matter.
    init() throws {
        try scene.start("first", seconds: 40)
        try scene.start("elapsed", .after(.seconds(60)), label: "tea", metadata: ["a": "b"])
        try scene.start("wall", .at(scene.now.wall + .seconds(60)))
        try scene.start("paused", seconds: 50)
        try scene.ask(.pause(key("paused")))
        try scene.start("brief", seconds: 60, forget: true)
        try scene.start("finished", seconds: 60)
        try scene.ask(.finish(key("finished")))
        try scene.start("twice", seconds: 60)
        try scene.ask(.finish(key("twice")))
        try scene.start("twice", seconds: 60, forget: true)
        try scene.start("last", seconds: 60)
        scene.pass(.seconds(5))
    }

    static let requests: [Request] = [
        .start(.init(key("new"))), .start(.init(key("new"), forget: true)), .start(.init(key("finished"))),
        .start(.init(key("elapsed"), .after(.seconds(1)), ifLive: .restart, forget: true)),
        .start(.init(key("paused"), ifLive: .restart)),
        .start(.init(key("wall"), ifLive: .extend, label: "x", metadata: [:])),
        .start(.init(key("first"), ifLive: .restart)), .start(.init(key("last"), ifLive: .restart)),
        .cancel(key("elapsed")), .cancel(key("paused")), .cancel(key("brief")), .finish(key("brief")),
        .finish(key("wall")), .finish(key("twice")), .start(.init(key("twice"), ifLive: .restart)),
        .pause(key("elapsed")), .pause(key("wall")), .resume(key("paused")),
        .adjust(key("elapsed"), .by(.seconds(5))), .adjust(key("elapsed"), .by(-.seconds(500))),
        .adjust(key("paused"), .by(.seconds(5))),
        .adjust(key("elapsed"), .to(SimulatedClocks().now.wall + .seconds(90))),
    ]

    @Test("a change leaves nothing behind, and its revision is used again", arguments: requests.indices)
    mutating func one(index: Int) throws {
        let before = Observation(of: scene.timetable, at: scene.now)
        let applied = try #require(try scene.ask(Self.requests[index]))
        #expect(Observation(of: scene.timetable, at: scene.now) != before)
        scene.timetable.undo(applied)
        #expect(Observation(of: scene.timetable, at: scene.now) == before)
        #expect(try scene.ask(Self.requests[index])?.change == applied.change)
    }

    @Test("a scan does not visit an entry again because its change was undone")
    mutating func recorders() throws {
        var visited: [Key] = []
        let scan = scene.timetable.openScan(live: .oldest, ended: .after(scene.timetable.revision))
        var limit = 3
        _ = scene.timetable.scan(scan, budget: &limit) {
            visited.append($0[$1].key)
            return true
        }
        let applied = [
            try #require(try scene.start(visited[2].text, nil, .restart)),
            try #require(try scene.start("new")),
            try #require(try scene.ask(.cancel(visited[1]))),
        ]
        for change in applied.reversed() { scene.timetable.undo(change) }
        limit = .max
        #expect(
            scene.timetable.scan(scan, budget: &limit) {
                visited.append($0[$1].key)
                return true
            } == .atEnd
        )
        #expect(visited == scene.timetable.known.filter(\.isLive).map(\.key))
    }
}
