import Glibc
import IPC
import TestSupport
import Testing

@Suite("A host that is cut off", .serialized)
struct CutOffTrials {
    private let fleet: Fleet
    /// The host that is cut off.
    private let host: Host
    private let others: [Host]

    init() throws {
        fleet = try Fleet()
        host = fleet.hosts[2]
        others = [fleet.hosts[0], fleet.hosts[1]]
    }

    /// Starts what the host knows when it is cut off, and watches it there from now on.
    private func prepare() throws -> Follower {
        for key in ["kept", "cancelled", "extended"] { try others[0].start(key, .seconds(3_600)) }
        try fleet.awaitEqual()
        let follower = try Follower(of: host.daemon, Watch(tick: .zero))
        try follower.events(through: .synced)
        return follower
    }

    /// What the others change meanwhile.
    private func change() throws {
        _ = try others[0].call(Cancel(key: "cancelled"))
        try others[1].start("extended", .seconds(60), .extend)
        try others[1].start("new", .seconds(3_600))
    }

    /// What the host answers from the countdowns that it knows.
    private func checkCache() throws {
        #expect(try host.get("cancelled").state == .running)
        #expect(try host.start("kept", .seconds(1)).outcome == .attached)
        #expect(throws: CountdownError.noSuchCountdown(key: "new")) { try host.get("new") }
        #expect(try host.countdowns()["extended"]?.duration == .hour)
    }

    private func checkRefusal() {
        for call in [Start(key: "refused", durationUSec: .hour), Start(key: "kept", ifRunning: .restart)] {
            do {
                _ = try host.call(call)
                Issue.record("\(call.key) was changed")
            } catch CountdownError.storageFailed {
            } catch {
                Issue.record("\(call.key): \(error)")
            }
        }
    }

    /// Checks the events of the watch after the host is back.
    private func checkEvents(_ follower: Follower) throws {
        var seen: [String: [Event.Kind]] = [:]
        while seen["new"] == nil {
            let event = try follower.next()
            if let key = event.key { seen[key, default: []].append(event.type) }
        }
        #expect(seen["cancelled"] == [.cancelled])
        #expect(seen["extended"] == [.adjusted])
        #expect(seen["new"] == [.started])
        #expect(seen["refused"] == nil)
        #expect(seen["kept"] == nil)
    }

    @Test("if its bridge hangs, changes in flight are unknown, later ones are refused, and ends are on time")
    func stoppedBridge() throws {
        let follower = try prepare()
        try host.start("short", .seconds(3))
        try follower.events(through: .started, of: "short")
        try host.bridge.program.stop()
        try change()
        #expect(
            try host.start("kept", .seconds(1)).outcome == .attached,
            "after 2 s, because the bridge is asked first"
        )
        do {
            try host.start("in flight", .seconds(3_600))
            Issue.record("a change was made without a bridge")
        } catch CountdownError.unreachable {
        }
        try follower.events(through: .finished, of: "short")
        try waitUntil("the bridge to be given up") { host.daemon.standardError.contains("cannot be reached") }
        checkRefusal()
        try checkCache()
        host.bridge.program.send(signal: SIGCONT)
        try host.awaitChanges()
        try checkEvents(follower)
        try fleet.awaitEqual()
        #expect([nil, .running].contains((try? others[0].get("in flight"))?.state))
    }

    @Test("if the engine is killed, changes are refused at once, and ends are on time on all hosts")
    func killedEngine() throws {
        let follower = try prepare()
        try change()
        try host.awaitChanges()
        let watches = try fleet.hosts.map { host in
            let watch = try Follower(of: host.daemon, Watch(tick: .zero))
            try watch.events(through: .synced)
            return watch
        }
        try host.start("short", .seconds(2))
        for watch in watches { try watch.events(through: .started, of: "short") }
        try fleet.engine.kill()
        try waitUntil("the engine to be given up") { host.daemon.standardError.contains("cannot be reached") }
        checkRefusal()
        #expect(try host.start("kept", .seconds(1)).outcome == .attached)
        for watch in watches { try watch.events(through: .finished, of: "short") }
        try checkEvents(follower)
        try fleet.engine.start()
        try fleet.awaitChanges()
        #expect(try fleet.awaitEqual()["extended"]?.duration == .hour + 60_000_000)
    }

    @Test("if the log begins after what it knows, its watch ends with HistoryTrimmed, and it has what the others have")
    func trimmedLog() throws {
        let follower = try prepare()
        try host.bridge.program.kill()
        try waitUntil("the bridge to be lost") { host.daemon.standardError.contains("cannot be reached") }
        try change()
        try fleet.engine.command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1")
        try host.bridge.start()
        try host.awaitChanges()
        try follower.awaitTrimming()
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["cancelled"] == nil)
        #expect(countdowns["new"] != nil)
    }

    @Test("a queued start survives the loss of the engine, and starts after the end that it waits for")
    func queue() throws {
        try others[0].start("key", .seconds(3))
        try fleet.awaitEqual()
        let caller = try Caller(of: host.daemon)
        try caller.send(Start(key: "key", durationUSec: .hour, ifRunning: .wait))
        try waitUntil("the start to wait") { try host.call(GetStatus()).queuedStarts == 1 }
        let end = try #require(host.get("key").deadlineUSec)
        try fleet.engine.kill()
        try waitUntil("the countdown to end") { try host.get("key").state == .finished }
        #expect(try host.call(GetStatus()).queuedStarts == 1)
        try fleet.engine.start()
        let reply = try caller.answer(to: Start.self).value
        #expect(reply.outcome == .started)
        #expect(reply.countdown.startedUSec >= end)
        try fleet.awaitChanges()
        try fleet.awaitEqual()
    }
}
