import BackendContract
import FleetWire
import Foundation
import TestSupport
import Testing

/// Faults that only Redis can cause in a bridge.
@Suite("Redis", .serialized)
struct RedisTests {
    @Test("the script is loaded again after SCRIPT FLUSH")
    func scriptFlush() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        try server.command("SCRIPT", "FLUSH")
        #expect(try client.propose(Propose.Proposal("a", "x.2", after: "x.1")).outcome == .won)
        let acknowledging = try BridgeProcess(server, parameters: "?acks=1")
        try server.command("SCRIPT", "FLUSH")
        let answer = try acknowledging.client().propose(Propose.Proposal("a", "x.3", after: "x.2"))
        #expect(answer.outcome == .unacknowledged)
        withExtendedLifetime((bridge, acknowledging)) {}
    }

    @Test(
        "the loss of any one key is survived: changes go on, and followers end up with what the engine has",
        arguments: [
            "cd:{fleet}:about", "cd:{fleet/0}:now", "cd:{fleet/0}:due", "cd:{fleet/0}:version", "cd:{fleet/0}:log",
            "cd:{fleet/0}:origin",
        ]
    )
    func lostKey(_ key: String) throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        let first = try #require(try client.propose(Propose.Proposal("a", "x.1", due: 1 << 52)).version)
        #expect(try client.propose(Propose.Proposal("b", "x.2", due: 1 << 52)).outcome == .won)
        let follower = try bridge.follower()
        try server.command("DEL", key)
        let change = try client.propose(Propose.Proposal("c", "x.3", due: 1 << 52))
        #expect(change.outcome == .won)
        var last: Follow.Reply
        repeat { last = try follower.update() } while last.last?.version != change.version
        #expect(last.last?.id == "x.3")
        // A new follower must see the content of the engine.
        let other = try bridge.client()
        try other.follow()
        let ids = try other.updates(until: .live).filter { $0.state == .page }.flatMap(\.entries).map(\.id)
        #expect(Set(ids) == (key.hasSuffix("now") ? ["x.3"] : ["x.1", "x.2", "x.3"]))
        // One that was away learns that versions are missing.
        let late = try bridge.client()
        try late.follow(after: first, id: "x.1")
        let states = try late.updates(until: .live).map(\.state)
        let expected: [Follow.State] =
            switch key.split(separator: ":").last {
            case "version": [.resumed, .changes, .diverged, .page, .live]
            case "log": [.trimmed, .page, .live]
            default: [.resumed, .changes, .live]
            }
        #expect(states == expected)
        withExtendedLifetime(bridge) {}
    }

    @Test(
        "bridges on which nothing changes notice that everything, or every record, is lost",
        arguments: [["FLUSHALL"], ["DEL", "cd:{fleet/0}:now"]]
    )
    func idle(_ loss: [String]) throws {
        let server = try RedisServer()
        let bridges = try (0..<3).map { _ in try BridgeProcess(server) }
        #expect(try bridges[0].client().propose(Propose.Proposal("a", "x.1", due: 1 << 52)).outcome == .won)
        let followers = try bridges.map { try $0.follower() }
        _ = try server.command(loss)
        for follower in followers {
            // It looks every 30 s.
            let updates = try follower.updates(until: .live)
            #expect(updates.contains { $0.state == .diverged })
            #expect(updates.flatMap(\.entries).isEmpty)
        }
        let change = try bridges[0].client().propose(Propose.Proposal("b", "x.2", due: 1 << 52))
        #expect(change.outcome == .won)
        for follower in followers { #expect(try follower.updates(until: .changes).last?.entries.map(\.id) == ["x.2"]) }
        withExtendedLifetime(bridges) {}
    }

    @Test("bridges notice that records are lost, although records with earlier and later ends were made since")
    func laterRecords() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        let old = (0..<20).map { Propose.Proposal("old/\($0)", "x.\($0)", due: 1 << 51) }
        #expect(try client.propose(old).allSatisfy { $0.outcome == .won })
        try server.command("DEL", "cd:{fleet/0}:now")
        let new = [50, 51, 52].map { Propose.Proposal("new/\($0)", "y.\($0)", due: 1 << Int64($0)) }
        #expect(try client.propose(new).allSatisfy { $0.outcome == .won })
        let updates = try bridge.follower().updates(until: .diverged)
        #expect(updates.last?.state == .diverged)
        // The lost records are not looked for any more.
        #expect(try server.command("ZCARD", "cd:{fleet/0}:due") == "3")
    }

    @Test("an engine that may remove keys is given up, also if that is set later, until it is set back")
    func eviction() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        try server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        let sentence = "has maxmemory-policy allkeys-lru: use noeviction, so that no countdown is lost"
        try bridge.program.line(containing: sentence)
        #expect(try client.propose(Propose.Proposal("b", "x.2")).reason?.contains(sentence) == true)
        try server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        try bridge.program.line(containing: "connected to")
        #expect(try client.propose(Propose.Proposal("b", "x.2")).outcome == .won)
    }

    @Test("a follower hears that the engine makes no changes, and that it makes them again, although nobody tries")
    func refusal() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        #expect(try bridge.client().propose(Propose.Proposal("a", "x.1", due: 1 << 52)).outcome == .won)
        let follower = try bridge.follower()
        try server.command("CONFIG", "SET", "maxmemory", "1")
        var update: Follow.Reply
        repeat { update = try follower.update() } while update.reason == nil
        #expect(update.state == .clock)
        #expect(update.reason?.contains("is out of memory and refuses changes") == true)
        // A follower that comes later hears it, too.
        let late = try bridge.client()
        try late.follow()
        repeat { update = try late.update() } while update.reason == nil
        #expect(update.state == .clock)
        try server.command("CONFIG", "SET", "maxmemory", "0")
        repeat { update = try follower.update() } while update.reason != nil
        try bridge.program.line(containing: "accepts changes again")
    }

    @Test("bridges of a namespace have one margin, and one with another is told which")
    func margin() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server, parameters: "?margin=200")
        let client = try bridge.client()
        try client.send(Describe())
        #expect(try client.reply().parameters(as: Describe.Reply.self).marginUSec == 200_000)
        let other = try BridgeProcess("redis://127.0.0.1:{port}/", port: server.port)
        let sentence = "has margin 200000, and this bridge has 50000: use margin=200 in the URL"
        try other.program.line(containing: sentence)
        withExtendedLifetime((bridge, other)) {}
    }

    @Test("a message that was lost is read from the log")
    func lostMessage() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        let first = try #require(try client.propose(Propose.Proposal("a", "x.1")).version)
        let follower = try bridge.follower()
        let record = "\(first + 1) y.1 {}"
        try server.command("XADD", "cd:{fleet/0}:log", "\(first + 1)-0", "b", record)
        try server.command("SET", "cd:{fleet/0}:version", "\(first + 1)")
        try server.command("HSET", "cd:{fleet/0}:now", "b", record)
        #expect(try client.propose(Propose.Proposal("c", "x.2")).version == first + 2)
        #expect(try follower.updates(until: .live).flatMap(\.entries).map(\.id) == ["y.1", "x.2"])
    }

    @Test("records are removed when they are due, and only then")
    func retention() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1", due: 1)).outcome == .won)
        #expect(try client.propose(Propose.Proposal("b", "x.2", due: 1 << 52)).outcome == .won)
        #expect(try client.propose(Propose.Proposal("c", "x.3")).outcome == .won)
        #expect(try server.command("HKEYS", "cd:{fleet/0}:now").split(separator: "\n").sorted() == ["b", "c"])
        #expect(try server.command("ZRANGE", "cd:{fleet/0}:due", "0", "-1") == "b")
        // A countdown that is paused later is not removed.
        #expect(try client.propose(Propose.Proposal("b", "x.4", after: "x.2")).outcome == .won)
        #expect(try server.command("ZCARD", "cd:{fleet/0}:due") == "0")
    }

    @Test(
        "if the engine's clock is stepped, the followers of every bridge are told, and windows are in the stepped time"
    )
    func clockStep() throws {
        let clock = try SteppedClock()
        let server = try RedisServer(environment: clock.environment)
        let bridge = try BridgeProcess(server)
        let other = try BridgeProcess(server)
        let idle = try other.follower()
        let follower = try bridge.client()
        try follower.follow()
        let before = try #require(try follower.updates(until: .live).last?.clock)
        try clock.set(ahead: -5_000_000)
        let after = try #require(try follower.updates(until: .clock).last?.clock)
        let step = before.engineLessBootUSec - after.engineLessBootUSec
        #expect(abs(step - 5_000_000) <= before.errorUSec + after.errorUSec)
        try bridge.program.line(containing: "has jumped by")
        _ = try idle.updates(until: .clock)
        let client = try bridge.client()
        let window = (after.now + 4_000_000)...(after.now + 60_000_000)
        #expect(try client.propose(Propose.Proposal("a", "x.1", window: window)).outcome == .early)
        withExtendedLifetime((bridge, other)) {}
    }
}
