import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A store that is written again from memory")
final class RewriteTests: StoreSuite {
    /// Countdowns in every state, revisions that are lost, and a step of the clock.
    private func fill() throws -> Keeper {
        do { try scene.open().turn(.start("old"), at: scene.now) }
        let keeper = try scene.open()
        for number in 0..<1_000 {
            let key = try Key("\(number % 600)")
            var start = Request.Start(key, .after(.seconds(Int64(600 + number))), ifLive: .restart)
            if number.isMultiple(of: 3) { start.label = "label \(number)" }
            if number.isMultiple(of: 7) { start.forget = true }
            let requests: [Request] = [[], [.pause(key)], [.cancel(key)], [.finish(key)]][number % 4]
            try keeper.turn([.start(start)] + requests, at: scene.now)
        }
        scene.pass(.seconds(1), thenSetBy: .seconds(3_600))
        let step = ClockStep(offset: scene.now.offset, revision: keeper.timetable.revision)
        try keeper.turn([.start("last")], clockStep: step, at: scene.now)
        return keeper
    }

    /// What a daemon that starts now knows.
    private func known() throws -> (known: [KeyedCountdown], step: Revision?, resumable: [Bool]) {
        let keeper = try scene.open()
        let oldest = keeper.timetable.oldestRevision
        let revisions = [
            oldest, Revision(oldest.number + 1), Revision(oldest.number + 1_000), keeper.known[0].revision,
        ]
        return (keeper.known, keeper.stepRevision, revisions.map(keeper.canResume(after:)))
    }

    @Test("it has everything that the old one had, and accepts changes")
    func same() throws {
        do {
            let keeper = try fill()
            for file in ["", "-wal", "-shm"] { unsafe unlink(scene.path + file) }
            #expect(throws: StoreFailure.self) { try keeper.store.check() }
            #expect(try keeper.store.rewrite(keeper.timetable, clockStep: nil, at: scene.now) == nil)
            try keeper.store.check()
            try keeper.turn(.start("new"), .cancel(Key("last")), at: scene.now)
            #expect(Set(try scene.files.keys) == ["countdowns.db", "countdowns.db-wal", "countdowns.db-shm"])
            let keys = keeper.known
            try scene.crash()
            let found = try known()
            #expect(found.known == keys)
            #expect(found.step != nil)
        }
    }

    @Test("it has a step of the clock that could not be stored before")
    func step() throws {
        let step: ClockStep
        do {
            let keeper = try fill()
            step = ClockStep(offset: scene.now.offset, revision: keeper.timetable.revision)
            unsafe unlink(scene.path)
            _ = try keeper.store.rewrite(keeper.timetable, clockStep: step, at: scene.now)
            try scene.crash()
        }
        #expect(try known().step == step.revision)
    }

    @Test(
        "if the daemon was killed before the new store had its name, the next start finishes the work and keeps the file with that name"
    )
    func killed() throws {
        var keys: [KeyedCountdown] = []
        do {
            let keeper = try fill()
            let other = scene.path + ".other"
            unsafe rename(scene.path, other)
            _ = try keeper.store.rewrite(keeper.timetable, clockStep: nil, at: scene.now)
            keys = keeper.known
            keeper.stop()
        }
        // As it was before the new store got its name, with a file of somebody else in its place.
        unsafe rename(scene.path, scene.path + ".new")
        unsafe rename(scene.path + "-wal", scene.path + ".new-wal")
        unsafe unlink(scene.path + "-shm")
        try scene.directory.write("mine", to: "countdowns.db")
        #expect(try known().known == keys)
        #expect(
            try scene.files.contains { $0.key.hasPrefix("countdowns-replaced-") && $0.value == Data("mine".utf8) }
        )
        #expect(try #require(scene.lines.all.last).contains("is the new store that the last countdownd has written"))
    }
}
