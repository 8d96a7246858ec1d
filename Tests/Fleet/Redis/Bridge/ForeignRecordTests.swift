import BackendContract
import FleetWire
import Glibc
import TestSupport
import Testing

/// Records that no bridge has written into a real engine.
@Suite("Records that no bridge has written", .serialized)
struct ForeignRecordTests {
    private let server: RedisServer
    private let bridge: BridgeProcess
    private let client: BackendClient
    private let version: Int64

    init() throws {
        server = try RedisServer()
        bridge = try BridgeProcess(server)
        client = try bridge.client()
        version = try #require(try client.propose(Propose.Proposal("a", "x.1")).version)
    }

    private func follower() throws -> BackendClient {
        let follower = try bridge.client()
        try follower.follow()
        return follower
    }

    @Test("messages with strange versions and records reach no daemon as changes")
    func messages() throws {
        let follower = try bridge.follower()
        let publish = { (text: String) in _ = try server.command("SPUBLISH", "cd:{fleet/0}:log", text) }
        try publish("a\n\(version - 1) y.1 {}")
        try publish("a\n-5 y.1 {}")
        try publish("a\n99999999999999999999999 y.1 {}")
        try publish("a\n\(version + 1)")
        try publish("\(String(repeating: "k", count: 300))\n\(version + 1) y.1 {}")
        try publish("a\n\(version + 1) y.1 \(String(repeating: "j", count: 70_000))")
        // A message without a change in the log is not believed either.
        try publish("a\n\(version + 7) y.1 {}")
        let change = try client.propose(Propose.Proposal("a", "x.2", after: "x.1"))
        #expect(change.version == version + 1)
        var updates: [Follow.Reply] = []
        repeat { updates.append(try follower.update()) } while updates.last?.last?.version != version + 1
        #expect(updates.flatMap(\.entries).map(\.id) == ["x.2"])
        #expect(!updates.contains { $0.state == .diverged })
        try bridge.program.line(
            containing: "error: a message in cd:{fleet/0}:log at 127.0.0.1:\(server.port) is no change: the log is read"
        )
    }

    @Test("versions that go backwards are another history")
    func backwards() throws {
        let follower = try bridge.follower()
        try server.command("SET", "cd:{fleet/0}:version", "\(version - 10)")
        let late = try bridge.client()
        try late.follow(after: version, id: "x.1")
        #expect(try late.update().state == .diverged)
        try bridge.program.line(containing: "the engine is at version \(version - 10), before version \(version)")
        withExtendedLifetime(follower) {}
    }

    @Test("records that cannot be read are left out of a snapshot, and counted in the log once")
    func snapshot() throws {
        let now = "cd:{fleet/0}:now"
        try server.command("HSET", now, "b", "no record", "c", "7 y.1 \(String(repeating: "j", count: 70_000))")
        for _ in 0..<2 {
            let follower = try follower()
            #expect(try follower.updates(until: .live).flatMap(\.entries).map(\.key) == ["a"])
        }
        for key in ["b", "c"] {
            let answer = try client.propose(Propose.Proposal(key, "x.2"))
            #expect(answer.version == 0 && answer.outcome == .conflict)
            #expect((answer.held?.record.utf8.count ?? 0) <= 1_000)
        }
        // A record, an ID and a key that are not UTF-8, and a key with a control character.
        let script = """
            return redis.call('HSET', KEYS[1], 'd', '7 y.1 \\255', 'e', '7 \\255 {}', '\\255', '7 y.1 {}', \
            '\\194\\133', '7 y.1 {}')
            """
        try server.command("EVAL", script, "1", now)
        #expect(try follower().updates(until: .live).flatMap(\.entries).map(\.key) == ["a"])
        bridge.program.send(signal: SIGTERM)
        #expect(try bridge.program.wait() == 0)
        for skips in [2, 6] {
            let sentence = "\(skips) records in \(now) at 127.0.0.1:\(server.port) cannot be read, and are skipped"
            #expect(bridge.program.lines.count { $0.contains("error: \(sentence)") } == 1)
        }
    }

    @Test("an entry of the log that cannot be read is a gap: every record is read again, and changes go on")
    func log() throws {
        let follower = try bridge.follower()
        try server.command("XADD", "cd:{fleet/0}:log", "\(version + 1)-0", "nonsense", "nonsense")
        try server.command("SET", "cd:{fleet/0}:version", "\(version + 1)")
        let change = try client.propose(Propose.Proposal("a", "x.2", after: "x.1"))
        #expect(change.version == version + 2)
        let updates = try follower.updates(until: .live)
        #expect(updates.map(\.state) == [.diverged, .page, .live])
        #expect(updates.flatMap(\.entries).map(\.id) == ["x.2"])
        let reason = "the log has a gap after version \(version): every record is read again"
        try bridge.program.line(containing: "error: 127.0.0.1:\(server.port): \(reason)")
    }
}
