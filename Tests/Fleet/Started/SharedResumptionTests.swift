import FakeBackend
import FleetWire
import Glibc
import IPC
import ModelEngine
import TestSupport
import Testing

@Suite("A daemon of a fleet that was away", .serialized)
struct SharedResumptionTests {
    /// The events that a watch with `since` brings.
    private func missed(since revision: Int64, of daemon: DaemonProcess) throws -> [Event] {
        try Follower(of: daemon, Watch(tick: .zero, since: revision)).events(through: .synced)
    }

    @Test("one that is cut off ends its countdowns on time, and is equal to the others again")
    func cutOff() throws {
        let fleet = try Fleet()
        let caller = try fleet.caller(0)
        let follower = try fleet.followers()[2]
        for key in ["cancelled", "extended", "paused"] { _ = try caller.call(Start(key: key)) }
        _ = try caller.call(Start(key: "short", durationUSec: .milliseconds(500)))
        try follower.events(through: .started, of: "short")
        let since = try fleet.caller(2).call(GetStatus()).revision
        fleet.backend.cutOff(2)
        try fleet.awaitLost(2)
        _ = try caller.call(Cancel(key: "cancelled"))
        _ = try caller.call(Start(key: "extended", durationUSec: .seconds(60), ifRunning: .extend))
        _ = try caller.call(Pause(key: "paused"))
        _ = try caller.call(Start(key: "new", label: "New"))
        #expect(try fleet.caller(2).call(Get(key: "cancelled")).countdown.state == .running)
        try follower.events(through: .finished, of: "short")
        fleet.backend.rejoin(2)
        let countdowns = try fleet.awaitEqual()
        #expect(
            countdowns.map { "\($0.key) \($0.state.rawValue)" } == [
                "cancelled cancelled", "extended running", "new running", "paused paused", "short finished",
            ]
        )
        let events = try follower.events(through: .started, of: "new")
        #expect(events.map(\.type) == [.cancelled, .adjusted, .paused, .started])
        let missed = try missed(since: since, of: fleet.daemons[2]).compactMap(\.key)
        #expect(missed == ["short", "cancelled", "extended", "paused", "new"])
    }

    @Test(
        "since a revision, a daemon that was restarted brings each end once, also if its store opens late",
        arguments: [false, true]
    )
    func restart(isKilled: Bool) throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller(0)
        for key in ["before", "ended", "live", "twice"] { _ = try caller.call(Start(key: key)) }
        try fleet.awaitEqual()
        _ = try fleet.caller(1).call(Cancel(key: "before"))
        let since = try fleet.caller(1).call(GetStatus()).revision
        try fleet.end(1, killed: isKilled)
        _ = try caller.call(Cancel(key: "ended"))
        _ = try caller.call(Cancel(key: "twice"))
        _ = try caller.call(Start(key: "twice"))
        _ = try caller.call(Finish(key: "twice"))
        _ = try caller.call(Start(key: "new"))
        let (state, away) = (fleet.daemons[1].stateDirectory, fleet.daemons[1].directory.path(of: "away"))
        if isKilled {
            unsafe rename(state, away)
            unsafe symlink(fleet.daemons[1].directory.path(of: "disk"), state)
        }
        try fleet.start(1)
        if isKilled {
            let error = #expect(throws: CountdownError.self) { try fleet.caller(1).call(Get(key: "live")) }
            #expect(error?.name == .storageFailed)
            unsafe rename(away, fleet.daemons[1].directory.path(of: "disk"))
        }
        try fleet.awaitLive(1, times: 2)
        // It resumed, and read no snapshot.
        #expect(fleet.backend.calls.follows.last?.after != nil)
        let events = try missed(since: since, of: fleet.daemons[1])
        #expect(
            events.map { "\($0.key ?? "") \($0.type.rawValue)" } == [
                "ended cancelled", "twice cancelled", "twice finished", "new attached", " synced",
            ]
        )
        try fleet.awaitEqual()
        // Once more, after a second restart without changes.
        let revision = try #require(events.last?.revision)
        try fleet.end(1, killed: isKilled)
        try fleet.start(1)
        try fleet.awaitLive(1, times: 3)
        #expect(try missed(since: revision, of: fleet.daemons[1]).map(\.type) == [.synced])
    }

    @Test("one that starts without the engine answers from its cache, and resumes when the engine is there")
    func startsWithoutEngine() throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller(0)
        _ = try caller.call(Start(key: "live", durationUSec: .seconds(600)))
        try fleet.awaitEqual()
        try fleet.end(1, killed: true)
        fleet.backend.stop(1)
        try fleet.start(1)
        let restarted = try fleet.caller(1)
        #expect(try restarted.call(Get(key: "live")).countdown.durationUSec == .seconds(600))
        #expect(try restarted.error(of: Start(key: "new")) != nil)
        _ = try caller.call(Start(key: "live", durationUSec: .seconds(60), ifRunning: .extend))
        try fleet.backend.start(1)
        #expect(try fleet.awaitEqual().map(\.durationUSec) == [.seconds(660)])
    }

    @Test("if the log was trimmed meanwhile, the differences are announced and since is refused")
    func trimmed() throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller(0)
        for key in ["cancelled", "live"] { _ = try caller.call(Start(key: key)) }
        try fleet.awaitEqual()
        let since = try fleet.caller(1).call(GetStatus()).revision
        fleet.backend.cutOff(1)
        try fleet.awaitLost(1)
        _ = try caller.call(Cancel(key: "cancelled"))
        for number in 0..<5 { _ = try caller.call(Start(key: "new/\(number)")) }
        fleet.backend.trimLog()
        fleet.backend.rejoin(1)
        #expect(try fleet.awaitEqual().count == 7)
        #expect(throws: CountdownError.self) { try missed(since: since, of: fleet.daemons[1]) }
    }

    @Test("a snapshot of 5,000 countdowns is read in pages, also if it is interrupted")
    func largeSnapshot() throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller(0)
        fleet.backend.stop(1)
        for batch in 0..<5 {
            for number in 0..<1_000 { try caller.send(Start(key: "key/\(batch)/\(number)")) }
            for _ in 0..<1_000 { #expect(try caller.answer(to: Start.self).value.outcome == .started) }
        }
        fleet.backend.trimLog()
        try fleet.backend.start(1)
        for _ in 0..<3 {
            let follows = fleet.backend.calls.follows.count
            try fleet.backend.awaitCalls("a call of Follow") { $0.follows.count > follows }
            fleet.backend.closeConnections()
        }
        #expect(try fleet.awaitEqual().count == 5_000)
    }
}
