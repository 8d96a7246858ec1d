import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("Revisions over restarts")
final class RevisionTests: StoreSuite {
    private func revision(_ number: Int64) -> Revision { Revision(number) }

    /// Starts so many countdowns, one after the other.
    @discardableResult
    private func start(_ count: Int, by keeper: Keeper) throws -> [Revision] {
        let first = keeper.timetable.revision.number
        return try (0..<Int64(count)).flatMap { try keeper.turn(.start("\(first + $0)"), at: scene.now) }
            .map(\.countdown.revision)
    }

    @Test("they begin at the system clock's microseconds")
    func first() throws {
        let keeper = try scene.open()
        #expect(keeper.timetable.revision.number == scene.now.wall.microseconds)
        #expect(keeper.timetable.oldestRevision == keeper.timetable.revision)
        #expect(!keeper.canResume(after: revision(scene.now.wall.microseconds - 1)))
    }

    @Test("after a clean stop they continue, and every watch can resume")
    func stopped() throws {
        let revisions: [Revision]
        do {
            let keeper = try scene.open()
            revisions = try start(5, by: keeper)
            keeper.stop()
        }
        scene.pass(.seconds(100))
        let keeper = try scene.open()
        #expect(keeper.timetable.revision == revisions.last)
        #expect(revisions.allSatisfy(keeper.canResume(after:)))
        let next = try start(1, by: keeper)
        #expect(next.map(\.number) == [revisions[4].number + 1])
    }

    @Test("after a crash they continue at the clock, and the revisions that may have been published are a gap for ever")
    func died() throws {
        let revisions: [Revision]
        do {
            let keeper = try scene.open()
            revisions = try start(5, by: keeper)
            try scene.crash()
        }
        scene.pass(.seconds(100))
        let clock = scene.now.wall.microseconds
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.timetable.revision.number == clock)
            #expect(revisions.allSatisfy(keeper.canResume(after:)))
            #expect(keeper.canResume(after: revision(clock)))
            for number in [revisions[4].number + 1, clock - 1] {
                #expect(!keeper.canResume(after: revision(number)), "\(number)")
            }
            keeper.stop()
        }
    }

    @Test("they continue far enough if the clock was set back")
    func clockSetBack() throws {
        let newest: Revision
        do {
            let keeper = try scene.open()
            newest = try #require(try start(5, by: keeper).last)
            try scene.crash()
        }
        scene.pass(.seconds(1), thenSetBy: .seconds(-86_400))
        let keeper = try scene.open()
        #expect(keeper.timetable.revision.number == newest.number + 1 << 20)
        #expect(!keeper.canResume(after: revision(newest.number + 1)))
        #expect(!keeper.canResume(after: revision(keeper.timetable.revision.number - 1)))
    }

    @Test("they are not repeated if the end of the log is lost")
    func lostEnd() throws {
        do { try scene.open().stop() }
        let name = try scene.log.last
        let stopped = try scene.log.bytes(of: name)
        scene.pass(.seconds(10))
        let lost: [Revision]
        do {
            let keeper = try scene.open()
            lost = try start(5, by: keeper)
            try scene.crash()
        }
        // What the first daemon has left, and its successor's mark, which was on the disk before any revision was given.
        let mark = try #require(try scene.log.ends(of: name).first { $0 > stopped.count })
        try scene.log.write(scene.log.bytes(of: name).prefix(mark), to: name)
        scene.pass(.seconds(10))
        let keeper = try scene.open()
        #expect(keeper.known.isEmpty)
        #expect(keeper.timetable.revision > lost[4])
        #expect(!lost.contains(where: keeper.canResume(after:)))
    }

    @Test("revisions of a quarantined store are not valid in the new store")
    func newStore() throws {
        let revisions: [Revision]
        do {
            revisions = try start(50, by: scene.open())
            try scene.crash()
        }
        try scene.log.write("text".utf8, to: scene.log.last)
        scene.pass(.milliseconds(1))
        let keeper = try scene.open()
        #expect(!revisions.contains(where: keeper.canResume(after:)))
        #expect(try start(1, by: keeper)[0] > revisions[49])
    }

    @Test("the log says that a daemon uses it before any revision is given, and not that the last one stopped")
    func mark() throws {
        do { try scene.open().stop() }
        #expect(try scene.log.state?.wasStopped == true)
        let keeper = try scene.open(beginning: false)
        #expect(!keeper.store.hasBegun)
        #expect(try scene.log.state?.wasStopped == true)
        try keeper.store.begin()
        #expect(keeper.store.hasBegun)
        #expect(try scene.log.state?.wasStopped == false)
    }

    @Test("the gaps of at most a thousand crashes are kept; from before the others no watch resumes")
    func manyCrashes() {
        var state = StateLine(bootID: "", revision: revision(1), offset: .zero)
        var ends: [Revision] = []
        for number in 1...1_500 as ClosedRange<Int64> {
            let newest = revision(number << 21)
            ends.append(revision(state.addGap(after: newest, clock: revision(1)).number - 1))
            #expect(state.gaps.last == revision(newest.number + 1)...ends[ends.count - 1])
        }
        #expect(state.gaps.count == 1_000)
        #expect(state.oldest == ends[499])
    }

    @Test("a boot without an identity counts as another boot")
    func namelessBoot() throws {
        scene.bootID = ""
        do { try scene.open().turn(.start("tea", for: 100), at: scene.now) }
        scene.now = Now(boot: BootInstant(microseconds: 7_000_000), offset: .seconds(1_750_000_999))
        let remaining = try scene.open()["tea"]?.remaining(at: scene.now)
        // 1,750,001,100 s by the system clock, which says 1,750,001,006 s.
        #expect(remaining == .seconds(94))
    }
}
