import CountdownCore
import Glibc
import IPC
import TestSupport
import Testing

@testable import countdownd

@Suite("A store that is opened late")
struct LateOpeningTests {
    private let directory: TemporaryDirectory
    private let time = DrivenTime()
    private let lines = Lines()
    private let stored: Revision
    private let daemon: SmallDaemon
    private let caller: Caller

    /// A daemon on a store that it cannot open, left by a daemon that saw the clocks 40 µs apart.
    init() throws {
        directory = try TemporaryDirectory()
        let starts = [
            Request.Start(try Key("elapsed"), .after(.seconds(600))),
            Request.Start(try Key("soon"), .after(.seconds(10))),
            Request.Start(try Key("wall"), .at(time.now.wall + .seconds(1_200))),
        ]
        stored = try Self.leave(starts, at: time.now, in: directory.path(of: "state"))
        unsafe rename(directory.path(of: "state"), directory.path(of: "away"))
        try directory.write("in its way", to: "state")
        time.pass(.zero, thenSetBy: 40)
        daemon = try SmallDaemon(in: directory, time: time, log: lines.log)
        caller = try daemon.caller()
    }

    /// Leaves a store behind, as a daemon that is killed does.
    private static func leave(_ starts: [Request.Start], at now: Now, in path: String) throws -> Revision {
        let opening = StoreLocation(directory: path, durability: .process, limits: Limits(), log: Lines().log)
        var opened = try opening.open(at: now)
        var changes = Changes()
        for start in starts {
            guard case .change(let change) = try opened.timetable.decide(.start(start), at: now) else { continue }
            opened.timetable.apply(change)
            changes.steps.append(change)
        }
        try opened.store.commit(changes, comparing: true)
        return opened.timetable.revision
    }

    /// Lets the store be opened, at the time of the next attempt.
    private func open(after span: Int64, step: Int64 = 0) throws {
        unsafe unlink(directory.path(of: "state"))
        unsafe rename(directory.path(of: "away"), directory.path(of: "state"))
        time.pass(span, thenSetBy: step)
        _ = try caller.call(GetStatus())
    }

    private func isRefused() throws -> Bool {
        do throws {
            _ = try caller.call(Start(key: "new"))
            return false
        } catch CountdownError.storageFailed {
            return true
        }
    }

    private func missed() throws -> [Event] {
        try daemon.follower(Watch(tick: .zero, since: stored.number)).events(through: .synced)
    }

    private var log: LogText { LogText(folder: directory.path(of: "state/log")) }

    @Test("deadlines stay as they were published, if the clocks were held with another offset meanwhile")
    func offset() throws {
        let deadline = time.now.wall + .seconds(600) - Duration(microseconds: 40)
        #expect(try isRefused())
        try open(after: .seconds(2))
        #expect(try caller.call(Get(key: "elapsed")).countdown.deadlineUSec == deadline.microseconds)
        #expect(try caller.call(Get(key: "elapsed")).countdown.remainingUSec == 598_000_000)
        #expect(lines.all.filter { $0.contains("cannot be stored") }.count == 1)
        #expect(lines.all.filter { $0.contains("can be stored again") }.count == 1)
    }

    @Test("ends that fell due meanwhile are delivered late, once, and kept")
    func endings() throws {
        let deadline = time.now.wall + .seconds(10) - Duration(microseconds: 40)
        try open(after: .seconds(60))
        let events = try missed()
        #expect(events.map(\.type) == [.finished, .synced])
        let ending = try #require(events.first { $0.type == .finished })
        #expect(ending.key == "soon")
        #expect(ending.lateUSec == 50_000_000)
        #expect(ending.countdown?.endedUSec == deadline.microseconds)
        #expect(try log.lines().count { $0.contains(#","soon",2,"#) } == 1)
    }

    @Test("if the clock is set before the store opens, countdowns on both clocks end when they should")
    func stepBefore() throws {
        time.pass(.seconds(1), thenSetBy: .seconds(3_600))
        #expect(try isRefused())
        try open(after: .seconds(100))
        try checkStep(passed: 101)
    }

    @Test("a step of the clock is noticed in the turn that opens the store")
    func stepAtOnce() throws {
        try open(after: .seconds(101), step: .seconds(3_600))
        try checkStep(passed: 101)
    }

    /// A clock step of an hour after this many seconds.
    private func checkStep(passed: Int64) throws {
        #expect(try caller.call(Get(key: "elapsed")).countdown.remainingUSec == (600 - passed) * 1_000_000)
        #expect(try caller.call(Get(key: "wall")).countdown.state == .finished)
        let events = try missed()
        #expect(events.contains { $0.type == .adjusted && $0.key == "elapsed" && $0.revision == nil })
        #expect(Set(events.filter { $0.type == .finished }.compactMap(\.key)) == ["soon", "wall"])
        let state = try #require(try log.state)
        #expect(try #require(state.stepRevision) > stored)
        #expect(state.offset == time.now.offset)
    }
}
