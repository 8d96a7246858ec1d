import CountdownCore
import Testing

@Suite("A scan")
struct ScanTests {
    var scene = RunningTimetable()

    /// Five live ones, revisions 1 to 5.
    init() throws {
        for name in ["a", "b", "c", "d", "e"] { try scene.start(name) }
    }

    /// Begins again with an empty timetable that keeps this many ends, and holds so many more for scans.
    private mutating func begin(history: Int = Limits().history, held: Int = Limits().endsHeldForWatches) {
        var limits = Limits()
        (limits.history, limits.endsHeldForWatches) = (history, held)
        scene = RunningTimetable(limits: limits)
    }

    @Test("of an empty timetable is at its end at once")
    func empty() {
        var scene = RunningTimetable()
        var recorder = ScanRecorder(&scene, live: .oldest, ended: .oldest)
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.visited.isEmpty)
    }

    @Test("visits everything once, in the order of revisions, whatever the budgets are", arguments: 1...6)
    mutating func parts(limit: Int) throws {
        try scene.ask(.pause(key("b")))
        try scene.ask(.cancel(key("d")))
        var recorder = ScanRecorder(&scene, ended: .oldest)
        var parts = 1
        while recorder.scan(&scene, limit: limit) == .more { parts += 1 }
        #expect(recorder.revisions == [1, 3, 5, 6, 7])
        #expect(recorder.keys == ["a", "c", "e", "b", "d"])
        #expect(parts == 5 / limit + 1)
    }

    @Test("continues behind the entry at which the visitor stopped")
    mutating func enough() {
        let scan = scene.timetable.openScan(live: .oldest, ended: .nowhere)
        var visited: [String] = []
        for _ in 0..<2 {
            var limit = 10
            let progress = scene.timetable.scan(scan, budget: &limit) { timetable, slot in
                visited.append(timetable[slot].key.text)
                return visited.count.isMultiple(of: 2) ? false : true
            }
            #expect(progress == .more)
            #expect(limit == 8)
        }
        #expect(visited == ["a", "b", "c", "d"])
    }

    @Test("without a budget visits nothing", arguments: [0, -1])
    mutating func nothingLeft(limit: Int) {
        var recorder = ScanRecorder(&scene)
        #expect(recorder.scan(&scene, limit: limit) == .more)
        #expect(recorder.visited.isEmpty)
    }

    @Test("at its end continues if something has changed")
    mutating func goesOn() throws {
        var recorder = ScanRecorder(&scene)
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.scan(&scene) == .atEnd)
        try scene.start("f")
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "b", "c", "d", "e", "f"])
    }

    @Test("leaves out a list without a start")
    mutating func nowhere() throws {
        try scene.ask(.cancel(key("b")))
        var live = ScanRecorder(&scene)
        live.scan(&scene)
        #expect(live.keys == ["a", "c", "d", "e"])
        var ended = ScanRecorder(&scene, live: .nowhere, ended: .oldest)
        ended.scan(&scene)
        #expect(ended.keys == ["b"])
    }

    @Test("that was closed, or never opened, has missed everything")
    mutating func closed() {
        var recorder = ScanRecorder(&scene)
        scene.timetable.closeScan(recorder.id)
        scene.timetable.closeScan(recorder.id)
        #expect(recorder.scan(&scene) == .missed)
    }

    // MARK: Changes during the scan

    @Test(
        "visits a countdown that changes before its visit only at its new place, in its new state",
        arguments: 0..<5
    )
    mutating func changesAhead(position: Int) throws {
        let name = ["a", "b", "c", "d", "e"][position]
        var recorder = ScanRecorder(&scene)
        recorder.scan(&scene, limit: position)
        try scene.ask(.pause(key(name)))
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "b", "c", "d", "e"].filter { $0 != name } + [name])
        #expect(recorder.live == scene.live)
    }

    @Test("visits a countdown again that changes after its visit", arguments: 1...5, 1...5)
    mutating func changesBehind(position: Int, changed: Int) throws {
        let name = ["a", "b", "c", "d", "e"][changed - 1]
        var recorder = ScanRecorder(&scene)
        recorder.scan(&scene, limit: position)
        try scene.start(name, nil, .restart)
        recorder.scan(&scene)
        let wasMet = changed <= position
        #expect(recorder.keys == ["a", "b", "c", "d", "e"].filter { wasMet || $0 != name } + [name])
        #expect(recorder.live == scene.live)
    }

    // MARK: Since

    @Test("after a revision visits each later change, live or ended", arguments: 0...7)
    mutating func after(revision: Int64) throws {
        try scene.ask(.cancel(key("b")))
        try scene.ask(.pause(key("a")))
        var recorder = ScanRecorder(&scene, live: .after(Revision(revision)), ended: .after(Revision(revision)))
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.revisions == [3, 4, 5, 6, 7].filter { $0 > revision })
    }

    @Test("after a revision is the same with the smallest budgets while everything changes", arguments: 0...7)
    mutating func afterInParts(revision: Int64) throws {
        var recorder = ScanRecorder(&scene, live: .after(Revision(revision)), ended: .after(Revision(revision)))
        var parts = 0
        while recorder.scan(&scene, limit: 1) == .more {
            parts += 1
            switch parts {
            case 1: try scene.ask(.cancel(key("e")))
            case 2: try scene.ask(.pause(key("c")))
            case 3: try scene.start("a", nil, .restart)
            case 4: try scene.ask(.cancel(key("d")))
            default: break
            }
        }
        #expect(recorder.revisions == recorder.revisions.sorted())
        #expect(recorder.revisions.allSatisfy { $0 > revision })
        let known = scene.timetable.known.filter { $0.revision > Revision(revision) }
        #expect(known.allSatisfy(recorder.visited.contains))
    }

    @Test("after a revision visits no older entry because a change was undone")
    mutating func afterUndo() throws {
        var recorder = ScanRecorder(&scene, live: .after(Revision(3)))
        recorder.scan(&scene, limit: 2)
        let restarted = try #require(try scene.start("c", nil, .restart))
        scene.timetable.undo(restarted)
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["d", "e"])
    }

    // MARK: Compaction

    @Test("holds an end that it has yet to visit, though the history is full", arguments: 0...6)
    mutating func held(limit: Int) throws {
        begin(history: 0, held: 3)
        for name in ["a", "b", "c", "d"] { try scene.start(name) }
        var recorder = ScanRecorder(&scene, live: .oldest, ended: .after(scene.timetable.revision))
        for name in ["a", "b", "c"] { try scene.ask(.cancel(key(name))) }
        recorder.scan(&scene, limit: limit)
        // One entry, "d", is live; the ends behind it go as soon as they are visited.
        #expect(scene.compact().count == max(0, min(3, limit - 1)))
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["d", "a", "b", "c"])
        scene.compact()
        #expect(scene.timetable.endedCount == 0)
    }

    @Test("holds an end that is too old as well")
    mutating func heldThoughOld() throws {
        var recorder = ScanRecorder(&scene, live: .nowhere, ended: .after(scene.timetable.revision))
        try scene.ask(.cancel(key("a")))
        scene.pass(.days(8))
        #expect(scene.compact().isEmpty)
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a"])
        #expect(scene.compact().count == 1)
    }

    @Test("of the ends that happen to be kept holds no end")
    mutating func notHeld() throws {
        begin(history: 0)
        try scene.start("a")
        _ = ScanRecorder(&scene, ended: .oldest)
        try scene.ask(.cancel(key("a")))
        #expect(scene.compact().count == 1)
    }

    @Test("has missed an end if more had to be held than the limit")
    mutating func missed() throws {
        begin(history: 2, held: 3)
        for number in 0..<6 { try scene.start("\(number)") }
        let base = scene.timetable.revision
        var recorder = ScanRecorder(&scene, live: .nowhere, ended: .after(base))
        for number in 0..<5 { try scene.ask(.cancel(key("\(number)"))) }
        #expect(scene.compact().isEmpty)
        try scene.ask(.cancel(key("5")))
        #expect(scene.compact() == [Revision(7)])
        #expect(recorder.scan(&scene) == .missed)
        #expect(recorder.scan(&scene) == .missed)
    }

    @Test("of the ends that happen to be kept misses nothing if an end is compacted")
    mutating func listing() throws {
        begin(history: 1)
        for name in ["a", "b", "c"] {
            try scene.start(name)
            try scene.ask(.cancel(key(name)))
        }
        var recorder = ScanRecorder(&scene, ended: .oldest)
        recorder.scan(&scene, limit: 1)
        scene.compact()
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "c"])
    }

    @Test("continues behind an entry that was compacted and whose slot is used again")
    mutating func slotReuse() throws {
        begin(history: 0)
        for name in ["a", "b"] { try scene.start(name) }
        let base = scene.timetable.revision
        try scene.ask(.cancel(key("a")))
        var recorder = ScanRecorder(&scene, live: .after(base), ended: .after(base))
        recorder.scan(&scene)
        let slot = scene.slot(under: key("a"))
        scene.compact()
        try scene.start("c")
        #expect(scene.slot(under: key("c")) == slot)
        try scene.ask(.cancel(key("c")))
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "c"])
        scene.compact()
        try scene.start("d")
        try scene.ask(.pause(key("b")))
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "c", "d", "b"])
    }

    // MARK: Forgotten ends

    @Test("visits a forgotten end if it was open at that time")
    mutating func forgotten() throws {
        try scene.start("brief", nil, forget: true)
        var recorder = ScanRecorder(&scene, ended: .after(scene.timetable.revision))
        recorder.scan(&scene, limit: 2)
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "b", "c", "d", "e", "brief"])
        #expect(recorder.visited.last?.isLive == false)
        var later = ScanRecorder(&scene, ended: .oldest)
        later.scan(&scene)
        #expect(later.keys == ["a", "b", "c", "d", "e"])
    }

    @Test("of the ends that happen to be kept is not ended by a forgotten end that is compacted")
    mutating func listingPastForgotten() throws {
        begin(history: 0)
        for name in ["a", "b"] { try scene.start(name) }
        try scene.start("brief", nil, forget: true)
        var recorder = ScanRecorder(&scene, ended: .oldest)
        recorder.scan(&scene, limit: 1)
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(recorder.scan(&scene) == .atEnd)
        #expect(recorder.keys == ["a", "b"])
    }

    @Test("holds forgotten ends while it is open and no longer")
    mutating func forgottenAreLetGo() throws {
        try scene.start("brief", nil, forget: true)
        let recorder = ScanRecorder(&scene, ended: .after(scene.timetable.revision))
        let slot = try #require(scene.slot(under: key("brief")))
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(scene.timetable[slot].key == key("brief"))
        try scene.start("f")
        #expect(scene.slot(under: key("f")) != slot)
        scene.timetable.closeScan(recorder.id)
        scene.compact()
        try scene.start("g")
        #expect(scene.slot(under: key("g")) == slot)
    }

    @Test("has missed forgotten ends if they are more than the limit")
    mutating func tooManyForgotten() throws {
        begin(held: 3)
        for (limit, progress) in [(0, Scan.Progress.missed), (1, .atEnd)] {
            var recorder = ScanRecorder(&scene, ended: .after(scene.timetable.revision))
            for index in 0..<4 {
                try scene.start("\(index)", nil, forget: true)
                try scene.ask(.cancel(key("\(index)")))
                if index == 0 { recorder.scan(&scene, limit: limit) }
            }
            scene.compact()
            #expect(recorder.scan(&scene) == progress)
            scene.timetable.closeScan(recorder.id)
            scene.compact()
        }
    }
}
