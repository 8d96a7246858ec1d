import CountdownCore
import Testing

@Suite("A scan")
struct WalkTests {
    var scene = RunningTimetable()

    /// Five live ones, revisions 1 to 5.
    init() throws {
        for name in ["a", "b", "c", "d", "e"] { try scene.start(name) }
    }

    @Test("of an empty timetable is at its end at once")
    func empty() {
        var scene = RunningTimetable()
        var walker = Walker(&scene, live: .oldest, ended: .oldest)
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.met.isEmpty)
    }

    @Test("visits everything once, in the order of revisions, whatever the budgets are", arguments: 1...6)
    mutating func portions(limit: Int) throws {
        try scene.ask(.pause(key("b")))
        try scene.ask(.cancel(key("d")))
        var walker = Walker(&scene, ended: .oldest)
        var portions = 1
        while walker.walk(&scene, limit: limit) == .more { portions += 1 }
        #expect(walker.revisions == [1, 3, 5, 6, 7])
        #expect(walker.keys == ["a", "c", "e", "b", "d"])
        #expect(portions == 5 / limit + 1)
    }

    @Test("continues behind the entry at which the visitor stopped")
    mutating func enough() {
        let walk = scene.timetable.openScan(live: .oldest, ended: .nowhere)
        var met: [String] = []
        for _ in 0..<2 {
            var limit = 10
            let progress = scene.timetable.scan(walk, budget: &limit) { timetable, slot in
                met.append(timetable[slot].key.text)
                return met.count.isMultiple(of: 2) ? false : true
            }
            #expect(progress == .more)
            #expect(limit == 8)
        }
        #expect(met == ["a", "b", "c", "d"])
    }

    @Test("without a budget visits nothing", arguments: [0, -1])
    mutating func nothingLeft(limit: Int) {
        var walker = Walker(&scene)
        #expect(walker.walk(&scene, limit: limit) == .more)
        #expect(walker.met.isEmpty)
    }

    @Test("at its end continues if something has changed")
    mutating func goesOn() throws {
        var walker = Walker(&scene)
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.walk(&scene) == .atEnd)
        try scene.start("f")
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "b", "c", "d", "e", "f"])
    }

    @Test("leaves out a list without a start")
    mutating func nowhere() throws {
        try scene.ask(.cancel(key("b")))
        var live = Walker(&scene)
        live.walk(&scene)
        #expect(live.keys == ["a", "c", "d", "e"])
        var ended = Walker(&scene, live: .nowhere, ended: .oldest)
        ended.walk(&scene)
        #expect(ended.keys == ["b"])
    }

    @Test("that was closed, or never opened, has missed everything")
    mutating func closed() {
        var walker = Walker(&scene)
        scene.timetable.closeScan(walker.id)
        scene.timetable.closeScan(walker.id)
        #expect(walker.walk(&scene) == .missed)
    }

    // MARK: Changes during the scan

    @Test(
        "visits a countdown that changes before its visit only at its new place, in its new state",
        arguments: 0..<5
    )
    mutating func changesAhead(position: Int) throws {
        let name = ["a", "b", "c", "d", "e"][position]
        var walker = Walker(&scene)
        walker.walk(&scene, limit: position)
        try scene.ask(.pause(key(name)))
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "b", "c", "d", "e"].filter { $0 != name } + [name])
        #expect(walker.live == scene.live)
    }

    @Test("visits a countdown again that changes after its visit", arguments: 1...5, 1...5)
    mutating func changesBehind(position: Int, changed: Int) throws {
        let name = ["a", "b", "c", "d", "e"][changed - 1]
        var walker = Walker(&scene)
        walker.walk(&scene, limit: position)
        try scene.start(name, nil, .restart)
        walker.walk(&scene)
        let wasMet = changed <= position
        #expect(walker.keys == ["a", "b", "c", "d", "e"].filter { wasMet || $0 != name } + [name])
        #expect(walker.live == scene.live)
    }

    @Test("misses nothing if every visited entry changes, the last one too", arguments: 1...5)
    mutating func changesAll(position: Int) throws {
        var walker = Walker(&scene)
        walker.walk(&scene, limit: position)
        for name in ["a", "b", "c", "d", "e"].prefix(position).reversed() { try scene.start(name, nil, .restart) }
        walker.walk(&scene, limit: 2)
        for name in ["c", "b", "a"] { try scene.start(name, nil, .restart) }
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.live == scene.live)
        #expect(walker.revisions == walker.revisions.sorted())
    }

    @Test("can be at the same entry as others, and each continues on its own")
    mutating func several() throws {
        var walkers = (0..<5).map { _ in Walker(&scene) }
        for index in walkers.indices { walkers[index].walk(&scene, limit: 1 + index / 2) }
        try scene.start("a", nil, .restart)
        try scene.ask(.cancel(key("b")))
        scene.timetable.closeScan(walkers[0].id)
        try scene.start("c", nil, .restart)
        for index in walkers.indices.dropFirst() {
            #expect(walkers[index].walk(&scene) == .atEnd)
            #expect(walkers[index].keys.suffix(4) == ["d", "e", "a", "c"])
        }
    }

    // MARK: Since

    @Test("after a revision visits each later change, live or ended", arguments: 0...7)
    mutating func after(revision: Int64) throws {
        try scene.ask(.cancel(key("b")))
        try scene.ask(.pause(key("a")))
        var walker = Walker(&scene, live: .after(Revision(revision)), ended: .after(Revision(revision)))
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.revisions == [3, 4, 5, 6, 7].filter { $0 > revision })
    }

    @Test("after a revision is the same with the smallest budgets while everything changes", arguments: 0...7)
    mutating func afterInPortions(revision: Int64) throws {
        var walker = Walker(&scene, live: .after(Revision(revision)), ended: .after(Revision(revision)))
        var portions = 0
        while walker.walk(&scene, limit: 1) == .more {
            portions += 1
            switch portions {
            case 1: try scene.ask(.cancel(key("e")))
            case 2: try scene.ask(.pause(key("c")))
            case 3: try scene.start("a", nil, .restart)
            case 4: try scene.ask(.cancel(key("d")))
            default: break
            }
        }
        #expect(walker.revisions == walker.revisions.sorted())
        #expect(walker.revisions.allSatisfy { $0 > revision })
        let known = scene.timetable.known.filter { $0.revision > Revision(revision) }
        #expect(known.allSatisfy(walker.met.contains))
    }

    @Test("after a revision visits no older entry because a change was undone")
    mutating func afterUndo() throws {
        var walker = Walker(&scene, live: .after(Revision(3)))
        walker.walk(&scene, limit: 2)
        let restarted = try #require(try scene.start("c", nil, .restart))
        scene.timetable.undo(restarted)
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["d", "e"])
    }

    // MARK: Compaction

    @Test("holds an end that it has yet to visit, though the history is full", arguments: 0...6)
    mutating func held(limit: Int) throws {
        var limits = Limits()
        limits.history = 0
        limits.endsHeldForWatches = 3
        scene = RunningTimetable(limits: limits)
        for name in ["a", "b", "c", "d"] { try scene.start(name) }
        var walker = Walker(&scene, live: .oldest, ended: .after(scene.timetable.revision))
        for name in ["a", "b", "c"] { try scene.ask(.cancel(key(name))) }
        walker.walk(&scene, limit: limit)
        // One entry, "d", is live; the ends behind it go as soon as they are met.
        #expect(scene.compact().count == max(0, min(3, limit - 1)))
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["d", "a", "b", "c"])
        scene.compact()
        #expect(scene.timetable.endedCount == 0)
    }

    @Test("holds an end that is too old as well")
    mutating func heldThoughOld() throws {
        var walker = Walker(&scene, live: .nowhere, ended: .after(scene.timetable.revision))
        try scene.ask(.cancel(key("a")))
        scene.pass(.days(8))
        #expect(scene.compact().isEmpty)
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a"])
        #expect(scene.compact().count == 1)
    }

    @Test("of the ends that happen to be kept holds no end")
    mutating func notHeld() throws {
        var limits = Limits()
        limits.history = 0
        scene = RunningTimetable(limits: limits)
        try scene.start("a")
        _ = Walker(&scene, ended: .oldest)
        try scene.ask(.cancel(key("a")))
        #expect(scene.compact().count == 1)
    }

    @Test("has missed an end if more had to be held than the limit")
    mutating func missed() throws {
        var limits = Limits()
        limits.history = 2
        limits.endsHeldForWatches = 3
        scene = RunningTimetable(limits: limits)
        for number in 0..<6 { try scene.start("\(number)") }
        let base = scene.timetable.revision
        var walker = Walker(&scene, live: .nowhere, ended: .after(base))
        for number in 0..<5 { try scene.ask(.cancel(key("\(number)"))) }
        #expect(scene.compact().isEmpty)
        try scene.ask(.cancel(key("5")))
        #expect(scene.compact() == [Revision(7)])
        #expect(walker.walk(&scene) == .missed)
        #expect(walker.walk(&scene) == .missed)
    }

    @Test("of the ends that happen to be kept misses nothing if an end is compacted")
    mutating func listing() throws {
        var limits = Limits()
        limits.history = 1
        scene = RunningTimetable(limits: limits)
        for name in ["a", "b", "c"] {
            try scene.start(name)
            try scene.ask(.cancel(key(name)))
        }
        var walker = Walker(&scene, ended: .oldest)
        walker.walk(&scene, limit: 1)
        scene.compact()
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "c"])
    }

    @Test("continues behind an entry that was compacted and whose slot is used again")
    mutating func slotReuse() throws {
        var limits = Limits()
        limits.history = 0
        scene = RunningTimetable(limits: limits)
        for name in ["a", "b"] { try scene.start(name) }
        let base = scene.timetable.revision
        try scene.ask(.cancel(key("a")))
        var walker = Walker(&scene, live: .after(base), ended: .after(base))
        walker.walk(&scene)
        let slot = scene.slot(under: key("a"))
        scene.compact()
        try scene.start("c")
        #expect(scene.slot(under: key("c")) == slot)
        try scene.ask(.cancel(key("c")))
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "c"])
        scene.compact()
        try scene.start("d")
        try scene.ask(.pause(key("b")))
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "c", "d", "b"])
    }

    // MARK: Forgotten ends

    @Test("visits a forgotten end if it was open at that time")
    mutating func forgotten() throws {
        try scene.start("brief", nil, forget: true)
        var walker = Walker(&scene, ended: .after(scene.timetable.revision))
        walker.walk(&scene, limit: 2)
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "b", "c", "d", "e", "brief"])
        #expect(walker.met.last?.isLive == false)
        var later = Walker(&scene, ended: .oldest)
        later.walk(&scene)
        #expect(later.keys == ["a", "b", "c", "d", "e"])
    }

    @Test("of the ends that happen to be kept is not ended by a forgotten end that is compacted")
    mutating func listingPastForgotten() throws {
        var limits = Limits()
        limits.history = 0
        scene = RunningTimetable(limits: limits)
        for name in ["a", "b"] { try scene.start(name) }
        try scene.start("brief", nil, forget: true)
        var walker = Walker(&scene, ended: .oldest)
        walker.walk(&scene, limit: 1)
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(walker.walk(&scene) == .atEnd)
        #expect(walker.keys == ["a", "b"])
    }

    @Test("holds forgotten ends while it is open and no longer")
    mutating func forgottenAreLetGo() throws {
        try scene.start("brief", nil, forget: true)
        let walker = Walker(&scene, ended: .after(scene.timetable.revision))
        let slot = try #require(scene.slot(under: key("brief")))
        try scene.ask(.cancel(key("brief")))
        scene.compact()
        #expect(scene.timetable[slot].key == key("brief"))
        try scene.start("f")
        #expect(scene.slot(under: key("f")) != slot)
        scene.timetable.closeScan(walker.id)
        scene.compact()
        try scene.start("g")
        #expect(scene.slot(under: key("g")) == slot)
    }

    @Test("has missed forgotten ends if they are more than the limit")
    mutating func tooManyForgotten() throws {
        var limits = Limits()
        limits.endsHeldForWatches = 3
        scene = RunningTimetable(limits: limits)
        for (limit, progress) in [(0, Scan.Progress.missed), (1, .atEnd)] {
            var walker = Walker(&scene, ended: .after(scene.timetable.revision))
            for index in 0..<4 {
                try scene.start("\(index)", nil, forget: true)
                try scene.ask(.cancel(key("\(index)")))
                if index == 0 { walker.walk(&scene, limit: limit) }
            }
            scene.compact()
            #expect(walker.walk(&scene) == progress)
            scene.timetable.closeScan(walker.id)
            scene.compact()
        }
    }

    // MARK: Everything at once

    @Test(
        "at its end has visited every live countdown and every end, in order, whatever changes meanwhile",
        arguments: 1...8
    )
    func random(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var scene = RunningTimetable()
        let names = (0..<20).map { "\($0)" }
        var walkers: [(base: Revision, walker: Walker)] = []
        var ended: [Revision] = []
        for _ in 0..<3_000 {
            let name = try #require(names.randomElement(using: &generator))
            let request: Request =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1: .start(.init(key(name), ifLive: .restart, forget: .random(using: &generator)))
                case 2: .pause(key(name))
                case 3: .resume(key(name))
                case 4: .finish(key(name))
                default: .start(.init(key(name), ifLive: .extend))
                }
            if let change = try? scene.ask(request)?.change, !change.countdown.isLive {
                ended.append(change.countdown.revision)
            }
            if walkers.count < 5 {
                let base = scene.timetable.revision
                walkers.append((base, Walker(&scene, live: .oldest, ended: .after(base))))
            }
            let index = Int.random(in: walkers.indices, using: &generator)
            let limit = Int.random(in: 0...4, using: &generator)
            guard walkers[index].walker.walk(&scene, limit: limit) == .atEnd else { continue }
            let (base, walker) = walkers.remove(at: index)
            #expect(walker.live == scene.live)
            #expect(walker.met.filter { !$0.isLive }.map(\.revision) == ended.filter { $0 > base })
            #expect(walker.revisions == Set(walker.revisions).sorted())
            scene.timetable.closeScan(walker.id)
        }
    }
}
