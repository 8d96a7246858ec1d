import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A log that is written again from memory")
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

    @Test("if files were found lost while the daemon was idle, the next commit notices it, too")
    func foundWhenIdle() throws {
        let keeper = try fill()
        try Loss.overwrittenOlderSegment.apply(to: scene.log)
        #expect(throws: StoreFailure.self) { try keeper.store.checkWhenIdle() }
        #expect(throws: StoreFailure.self) { try keeper.turn(.start("new"), at: scene.now) }
        #expect(throws: StoreFailure.self) { try keeper.store.checkWhenIdle() }
    }

    enum Loss: CaseIterable {
        case removedFolder, removedSegment, replacedSegment, truncatedSegment, removedOlderSegment,
            overwrittenOlderSegment

        func apply(to log: LogText) throws {
            let (last, first) = (log.path(of: try log.last), log.path(of: "0000000001.log"))
            switch self {
            case .removedFolder: try FileManager.default.removeItem(atPath: log.folder)
            case .removedSegment: unsafe unlink(last)
            case .replacedSegment: try Data("mine".utf8).write(to: URL(filePath: last), options: .atomic)
            case .truncatedSegment: unsafe truncate(last, 10)
            case .removedOlderSegment: unsafe unlink(first)
            case .overwrittenOlderSegment: try Data("mine".utf8).write(to: URL(filePath: first))
            }
        }
    }

    @Test(
        "has everything that the old one had, accepts changes, and what had its name is kept",
        arguments: Loss.allCases
    )
    func same(_ loss: Loss) throws {
        let keeper = try fill()
        try loss.apply(to: scene.log)
        let failure = #expect(throws: StoreFailure.self) { try keeper.store.check() }
        #expect(failure?.isOfFiles == true)
        let kept = try keeper.store.rewrite(keeper.timetable, clockStep: nil, at: scene.now)
        #expect((kept == nil) == (loss == .removedFolder))
        #expect(kept?.hasPrefix(scene.directory.path(of: "log-replaced-")) ?? true)
        try keeper.store.check()
        try keeper.turn(.start("new"), .cancel(Key("last")), at: scene.now)
        #expect(try scene.log.names == ["0000000001.base", "0000000001.log"])
        let (known, step) = (keeper.known, keeper.stepRevision)
        let found = try scene.crashAndOpen(keeper)
        #expect(found.known == known)
        #expect(found.stepRevision != nil)
        #expect(step == nil || found.stepRevision == step)
        #expect(!found.canResume(after: Revision(found.timetable.oldestRevision.number - 1)))
    }

    @Test("has a step of the clock that could not be stored before")
    func step() throws {
        let keeper = try fill()
        let step = ClockStep(offset: scene.now.offset, revision: keeper.timetable.revision)
        try Loss.removedSegment.apply(to: scene.log)
        _ = try keeper.store.rewrite(keeper.timetable, clockStep: step, at: scene.now)
        #expect(try scene.crashAndOpen(keeper).stepRevision == step.revision)
    }

    @Test(
        "is finished by the next start if the daemon was killed before the new folder had its name",
        arguments: [true, false]
    )
    func killed(isWhole: Bool) throws {
        var known: [KeyedCountdown] = []
        do {
            let keeper = try fill()
            _ = try keeper.store.rewrite(keeper.timetable, clockStep: nil, at: scene.now)
            known = keeper.known
            keeper.stop()
        }
        for name in try scene.files.keys where name.hasPrefix("log-") && !name.contains("/") {
            try FileManager.default.removeItem(atPath: scene.directory.path(of: name))
        }
        unsafe rename(scene.log.folder, scene.log.folder + ".new")
        if !isWhole { unsafe unlink(scene.log.folder + ".new/0000000001.base") }
        #expect(try scene.open().known == (isWhole ? known : []))
        #expect(
            scene.lines.all.contains { $0.contains("is the new log that the last countdownd has written") } == isWhole
        )
    }
}
