import BackendContract
import FleetWire
import Foundation
import TestSupport
import Testing

/// Faults of an engine that the bridge names in one sentence, and survives.
@Suite("Faults of the engine", .serialized)
struct EngineFaultTests {
    private func expect(
        _ sentence: String,
        url: String = "redis://127.0.0.1:{port}",
        _ answer: @escaping @Sendable ([String]) -> FakeEngine.Reply
    ) throws {
        let engine = try FakeEngine(answer)
        let bridge = try BridgeProcess(url, port: engine.port)
        let line = try #require(try bridge.program.line())
        #expect(line == "countdownd-redis: error: \(sentence.replacing("%", with: "127.0.0.1:\(engine.port)"))")
        // A call is answered at once, with the same reason.
        let answer = try bridge.client().propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        #expect(answer.reason.map(line.hasSuffix) == true)
    }

    @Test("what is no engine, or one that is too old, is one sentence")
    func otherServers() throws {
        try expect("% is Redis 6.2.7: Redis 7.0 or newer, or Valkey 7.2 or newer, is needed") {
            FakeEngine.healthy($0, version: "6.2.7") ?? .text("")
        }
        try expect("% is Valkey 7.1.0: Redis 7.0 or newer, or Valkey 7.2 or newer, is needed") {
            FakeEngine.healthy($0, version: "7.2.4\r\nvalkey_version:7.1.0") ?? .text("")
        }
        try expect("% is a node of a cluster, which is not supported: use a single server") {
            FakeEngine.healthy($0, version: "7.0.15\r\ncluster_enabled:1") ?? .text("")
        }
        try expect("% has closed the connection: if it speaks TLS, use rediss:") { _ in .close("") }
        try expect("% is no Redis or Valkey: it sent the byte 72") { _ in .text("HTTP/1.1 400 Bad Request\r\n\r\n") }
        try expect("no answer from % within 2 s") { _ in .text("") }
        try expect("% denies the connection: it is in protected mode and demands a password") { _ in
            .text("-DENIED Redis is running in protected mode\r\n")
        }
    }

    @Test("nobody listens, and no host has the name")
    func unreachable() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        try bridge.program.line(containing: "error: cannot connect to 127.0.0.1:1: Connection refused")
        let other = try BridgeProcess("redis://no-such-host.invalid")
        try other.program.line(containing: "error: cannot resolve the host 'no-such-host.invalid'")
    }

    @Test("a password is demanded, rejected or not needed: one sentence each, and a new one is taken at SIGHUP")
    func passwords() throws {
        let server = try RedisServer()
        let none = try BridgeProcess("redis://:SECRET@127.0.0.1:{port}", port: server.port)
        try none.program.line(containing: "has no password for the default user: remove it from the URL")
        try server.command("CONFIG", "SET", "requirepass", "SECRET2")
        let missing = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        try missing.program.line(containing: "demands a password: use a URL with USER:PASSWORD@")
        let wrong = try BridgeProcess("redis://:SECRET@127.0.0.1:{port}", port: server.port)
        try wrong.program.line(containing: "rejects the user name or the password of the URL")
        let client = try wrong.client()
        try client.send(Describe())
        #expect(try client.reply().error == BackendError.WireName.unreachable.rawValue)
        try wrong.replaceURL("redis://:SECRET2@127.0.0.1:\(server.port)")
        try wrong.program.line(containing: "connected to")
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        // A failure that goes on is logged once.
        #expect(wrong.program.lines.count { $0.contains("rejects") } == 1)
        #expect(!(none.program.lines + missing.program.lines + wrong.program.lines).joined().contains("SECRET"))
    }

    // MARK: Permissions

    private func user(_ server: RedisServer, _ rules: String...) throws -> BridgeProcess {
        let page = BuiltProduct.packageDirectory.appendingPathComponent("docs/fleet.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("user countdownd ") })
        try server.command(["ACL", "SETUSER"] + line.split(separator: " ").dropFirst().map(String.init) + rules)
        return try BridgeProcess("redis://countdownd:SECRET@127.0.0.1:{port}", port: server.port)
    }

    @Test("the permissions in the documentation suffice")
    func permissions() throws {
        let server = try RedisServer()
        let bridge = try user(server)
        try bridge.program.line(containing: "connected to")
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1", due: 1)).outcome == .won)
        let follower = try bridge.client()
        try follower.follow()
        #expect(try follower.updates(until: .live).last?.last?.id == "x.1")
        let late = try bridge.client()
        try late.follow(after: 1, id: "x.0")
        #expect(try late.updates(until: .live).first?.state == .diverged)
        // A namespace is not included because its name begins alike.
        let other = try BridgeProcess("redis://countdownd:SECRET@127.0.0.1:{port}/?namespace=fleet2", port: server.port)
        try other.program.line(
            containing: "lacks a permission for the keys of HSETNX: allow it ~cd:{fleet2}:* ~cd:{fleet2/*"
        )
        #expect(!(bridge.program.lines + other.program.lines).joined().contains("SECRET"))
    }

    @Test(
        "each permission that is missing is named before a change is made",
        arguments: [
            "+info", "+time", "+ping", "+eval", "+evalsha", "+script|load", "+hsetnx", "+hget", "+hset", "+hdel",
            "+hscan",
            "+get", "+set", "+zadd", "+zrem", "+zrange", "+xadd", "+xrange", "+xrevrange", "+multi",
            "+exec", "+discard", "+wait", "+ssubscribe", "+spublish",
        ]
    )
    func missingPermission(rule: String) throws {
        let server = try RedisServer()
        let command = rule.dropFirst()
        let bridge = try user(server, "-\(command)")
        try bridge.program.line(
            containing: "error: the user of 127.0.0.1:\(server.port) lacks a permission for \(command.uppercased()): "
                + "allow it \(rule)"
        )
        #expect(try server.command("EXISTS", "cd:{fleet/0}:log", "cd:{fleet/0}:now") == "0")
        #expect(bridge.program.lines.count == 1)
    }

    @Test("keys and channels that are missing are named")
    func missingKeys() throws {
        let server = try RedisServer()
        let other = try user(server, "resetkeys", "~cd:{fleet}:*")
        try other.program.line(
            containing: "lacks a permission for the keys of HGET: allow it ~cd:{fleet}:* ~cd:{fleet/*"
        )
        let third = try user(server, "resetchannels")
        try third.program.line(
            containing: "lacks a permission for the channel of SPUBLISH: allow it &cd:{fleet/*"
        )
    }

    @Test("a permission that is taken away later is named when a change is refused")
    func permissionTaken() throws {
        let server = try RedisServer()
        let bridge = try user(server)
        try bridge.program.line(containing: "connected to")
        let client = try bridge.client()
        try server.command("ACL", "SETUSER", "countdownd", "-xadd")
        let answer = try client.propose(Propose.Proposal("b", "x.2"))
        #expect(answer.outcome == .unreachable)
        let sentence = "the user of 127.0.0.1:\(server.port) lacks a permission for XADD: allow it +xadd"
        #expect(answer.reason == sentence)
        try bridge.program.line(containing: "error: changes are refused: \(sentence)")
        try server.command("ACL", "SETUSER", "countdownd", "+xadd")
        #expect(try client.propose(Propose.Proposal("b", "x.3")).outcome == .won)
        try bridge.program.line(containing: "accepts changes again")
    }

    // MARK: Settings and states of the engine

    @Test("an engine that may evict keys is refused, until it is mended")
    func evictionPolicy() throws {
        let server = try RedisServer(["--maxmemory-policy", "allkeys-lru"])
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        let sentence = "has maxmemory-policy allkeys-lru: use noeviction, so that no countdown is lost"
        try bridge.program.line(containing: sentence)
        let client = try bridge.client()
        let answer = try client.propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        #expect(answer.reason?.contains(sentence) == true)
        try server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        try bridge.program.line(containing: "connected to")
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
    }

    @Test("a full engine is connected to: its countdowns are known, and changes are refused with the reason")
    func full() throws {
        let server = try RedisServer()
        let earlier = try BridgeProcess(server)
        #expect(try earlier.client().propose(Propose.Proposal("a", "x.1")).outcome == .won)
        try server.setFull(true)
        let bridge = try BridgeProcess(server)
        let follower = try bridge.client()
        try follower.follow()
        #expect(try follower.updates(until: .live).flatMap(\.entries).map(\.id) == ["x.1"])
        let client = try bridge.client()
        let answer = try client.propose(Propose.Proposal("b", "x.2"))
        #expect(
            answer
                == .unreachable(
                    reason: "127.0.0.1:\(server.port) is out of memory and refuses changes: raise its maxmemory"
                )
        )
        #expect(try client.propose(Propose.Proposal("a", "x.3", after: "x.1", record: nil)).outcome == .won)
        try server.setFull(false)
        #expect(try client.propose(Propose.Proposal("b", "x.2")).outcome == .won)
        try bridge.program.line(containing: "accepts changes again")
    }

    @Test("a namespace that was made with other settings is refused, and both values are named")
    func settings() throws {
        let server = try RedisServer()
        try server.command("HSET", "cd:{fleet}:about", "shards", "4")
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        try bridge.program.line(containing: "the namespace fleet has shards 4, and this bridge has 1")
    }

    @Test(
        "a key of another type is named, and no part of the change is made",
        arguments: ["now", "due", "version", "log"]
    )
    func otherType(name: String) throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let keys = name == "version" ? ["LPUSH", "cd:{fleet/0}:version"] : ["SET", "cd:{fleet/0}:\(name)"]
        try server.command(keys + ["text"])
        let answer = try bridge.client().propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        #expect(answer.reason?.contains("holds a key of the namespace fleet that is of another type") == true)
        #expect(try server.command("KEYS", "cd:{fleet/0}:*") == "cd:{fleet/0}:\(name)")
    }

    @Test("once a URL has led to the engine, no hint doubts it")
    func workingURL() throws {
        let received = Received()
        let engine = try FakeEngine { command in
            received.add(command)
            // It fails with the first change, and accepts and closes connections from then on.
            if received.commands.contains(where: { $0[0] == "EVALSHA" && !$0[1].isEmpty }) { return .close("") }
            return FakeEngine.healthy(command) ?? FakeEngine.empty(command) ?? .text("")
        }
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: engine.port)
        try bridge.program.line(containing: "connected to")
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .unknown)
        let count = received.commands.count
        try waitUntil("further attempts to connect") { received.commands.count > count + 4 }
        let reason = try client.propose(Propose.Proposal("a", "x.1")).reason
        #expect(reason == "127.0.0.1:\(engine.port) has closed the connection")
    }

    @Test("an engine that becomes a replica is left")
    func deposed() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        try server.command("REPLICAOF", "127.0.0.1", "1")
        let answer = try client.propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        try bridge.program.line(containing: "is a replica: use the address of its primary")
        try server.command("REPLICAOF", "NO", "ONE")
        try bridge.program.line(containing: "connected to")
    }

    @Test("an engine without an append-only file is warned about")
    func warning() throws {
        let server = try RedisServer(["--appendonly", "no"])
        let bridge = try BridgeProcess(server)
        try bridge.program.line(containing: "warning: 127.0.0.1:\(server.port) has no append-only file")
    }
}
