import BackendContract
import FleetWire
import TestSupport
import Testing

/// Changes that replicas have to acknowledge.
@Suite("Acknowledgements", .serialized)
struct AcknowledgementTests {
    private func replica(of server: RedisServer) throws -> RedisServer {
        let replica = try RedisServer(["--replicaof", "127.0.0.1", "\(server.port)"])
        try waitUntil("the replica is online") {
            try server.command("INFO", "replication").contains("state=online")
        }
        return replica
    }

    @Test("acknowledgements that do not come are told, and confirmations do not wait for them")
    func missing() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        try bridge.program.line(containing: "has 0 replicas, and acks=1 demands more")
        let (client, other) = (try bridge.client(), try bridge.client())
        try client.sendProposals([Propose.Proposal("a", "x.1"), Propose.Proposal("b", "x.2", record: nil)])
        try other.sendProposals([Propose.Proposal("b", "x.3", record: nil)])
        #expect(try other.answers().map(\.outcome) == [.won])
        #expect(try client.answers().map(\.outcome) == [.unacknowledged, .won])
    }

    @Test("an engine that takes changes without a replica is warned about if replicas have to acknowledge them")
    func withoutMinimum() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        let warning = "warning: 127.0.0.1:\(server.port) takes changes without a replica: use min-replicas-to-write 1"
        try bridge.program.line(containing: warning)
        try server.command("CONFIG", "SET", "min-replicas-to-write", "1")
        let other = try BridgeProcess(server, parameters: "?acks=1")
        #expect(try other.program.line()?.contains("has 0 replicas") == true)
    }

    @Test("changes of several clients that no replica acknowledges are all told so, and the engine stays connected")
    func severalMissing() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        let follower = try bridge.follower()
        let clients = try (0..<4).map { _ in try bridge.client() }
        for round in 0..<3 {
            for (place, client) in clients.enumerated() {
                try client.sendProposals([Propose.Proposal("k\(round)/\(place)", "x.\(round)/\(place)")])
                // The script of each is sent on its own.
                try waitUntil("the change is made, or kept") {
                    try place > 0 || server.command("HEXISTS", "cd:{fleet/0}:now", "k\(round)/0") == "1"
                }
            }
            for client in clients { #expect(try client.answers().map(\.outcome) == [.unacknowledged]) }
        }
        var entries = 0
        while entries < 12 {
            let update = try follower.update()
            #expect(update.state == .changes || update.state == .clock)
            entries += update.entries.count
        }
    }

    @Test("a conflict is answered before a replica that does not acknowledge")
    func conflict() throws {
        let server = try RedisServer()
        let other = try BridgeProcess(server)
        #expect(try other.client().propose(Propose.Proposal("a", "x.1")).outcome == .won)
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.2")).outcome == .conflict)
    }

    @Test("changes are kept while the replica is slow, and all are made once it acknowledges")
    func slowReplica() throws {
        let server = try RedisServer(["--repl-diskless-sync-delay", "0"])
        let replica = try replica(of: server)
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        let clients = try (0..<8).map { _ in try bridge.client() }
        for round in 0..<20 {
            for (place, client) in clients.enumerated() {
                try client.sendProposals([
                    Propose.Proposal("k\(place)", "x.\(round)", after: round > 0 ? "x.\(round - 1)" : nil)
                ])
            }
            for client in clients { #expect(try client.answers().map(\.outcome) == [.won]) }
        }
        try replica.freeze()
        #expect(try clients[0].propose(Propose.Proposal("a", "y.1")).outcome == .unacknowledged)
        try clients[0].sendProposals([Propose.Proposal("a", "y.2", after: "y.1")])
        replica.thaw()
        #expect([.won, .unacknowledged].contains(try clients[0].answers().first?.outcome))
        // The same proposal again is acknowledged, although it writes nothing.
        #expect(try clients[0].propose(Propose.Proposal("a", "y.2", after: "y.1")).outcome == .won)
    }

    @Test("a replica acknowledges, and is no engine itself")
    func replica() throws {
        let server = try RedisServer(["--repl-diskless-sync-delay", "0"])
        let replica = try replica(of: server)
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        #expect(try bridge.client().propose(Propose.Proposal("a", "x.1")).outcome == .won)
        let other = try BridgeProcess("redis://127.0.0.1:{port}", port: replica.port)
        try other.program.line(containing: "is a replica: use the address of its primary")
    }
}
