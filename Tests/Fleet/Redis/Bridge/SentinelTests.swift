import BackendContract
import FleetWire
import TestSupport
import Testing

/// A bridge that finds the engine through sentinels, on real servers and sentinels.
@Suite("Sentinels and failovers", .serialized)
struct SentinelTests {
    private let engine: ReplicatedEngine

    init() throws { engine = try ReplicatedEngine() }

    private func bridge(_ parameters: String = "") throws -> BridgeProcess {
        let bridge = try BridgeProcess(engine.url(parameters: parameters))
        try bridge.program.line(containing: "connected to")
        return bridge
    }

    /// Proposes with new identifiers until the answer is one that is expected.
    private func propose(
        _ bridge: BridgeProcess,
        _ name: String,
        until isExpected: (Propose.Answer) -> Bool
    ) throws -> Propose.Answer {
        let client = try bridge.client()
        var number = 0
        var answer = try client.propose(Propose.Proposal("\(name)/0", "\(name).0"))
        try waitUntil("an expected answer instead of \(answer)") {
            if isExpected(answer) { return true }
            number += 1
            answer = try client.propose(Propose.Proposal("\(name)/\(number)", "\(name).\(number)"))
            return false
        }
        return answer
    }

    /// Waits until a change is acknowledged.
    private func awaitChanges(_ bridge: BridgeProcess, _ name: String) throws {
        _ = try propose(bridge, name) { $0.outcome == .won }
    }

    @Test("the primary is found although one sentinel is gone, one hangs and one is a server")
    func discovery() throws {
        try engine.sentinels[0].kill()
        try engine.sentinels[1].freeze()
        let primary = engine.servers[0]
        let hosts = engine.sentinels.map { "127.0.0.1:\($0.port)" } + ["127.0.0.1:\(primary.port)"]
        let bridge = try BridgeProcess("redis://\(hosts.joined(separator: ","))/?sentinel=cooldowns")
        let line = try bridge.program.line(containing: "connected to")
        #expect(line.hasSuffix("at 127.0.0.1:\(primary.port), the primary 'cooldowns', namespace fleet"))
        let client = try bridge.client()
        try client.send(Describe())
        #expect(try client.reply().parameters(as: Describe.Reply.self).acknowledgements == 1)
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        for sentinel in engine.sentinels[..<2] {
            let address = "127.0.0.1:\(sentinel.port)"
            try waitUntil("the loss of \(address) to be logged") {
                let isLogged = bridge.program.lines.contains { $0.contains("is lost") && $0.contains(address) }
                if !isLogged { _ = try bridge.program.line() }
                return isLogged
            }
        }
    }

    @Test("after a failover the new primary has every acknowledged change, and followers resume")
    func failover() throws {
        let bridge = try bridge()
        let follower = try bridge.follower()
        let client = try bridge.client()
        for number in 0..<50 {
            #expect(try client.propose(Propose.Proposal("k\(number)", "x.\(number)")).outcome == .won)
        }
        try engine.servers[0].kill()
        try engine.awaitFailover(from: engine.servers[0])
        try bridge.program.line(containing: "at 127.0.0.1:\(engine.servers[1].port), the primary 'cooldowns'")
        let answers = try client.propose((0..<50).map { Propose.Proposal("k\($0)", "y.\($0)") })
        #expect(answers.map { $0.held?.id } == (0..<50).map { "x.\($0)" })
        let updates = try follower.updates(until: .resumed)
        #expect(updates.contains { $0.state == .lost })
        #expect(updates.flatMap(\.entries).count == 50)
        // The only replica is the primary now, so changes are unacknowledged until the former primary is its replica.
        #expect(try client.propose(Propose.Proposal("new", "x.1")).outcome == .unacknowledged)
        try engine.servers[0].restart()
        try awaitChanges(bridge, "after")
        #expect(engine.servers[0].isReplica)
        #expect(bridge.program.lines.allSatisfy { !$0.contains("sentinel is lost") })
    }

    @Test("a resend on a new connection is acknowledged only if a replica has the change")
    func resend() throws {
        let bridge = try bridge()
        let replica = engine.servers[1]
        try replica.freeze()
        let proposal = Propose.Proposal("a", "x.1")
        #expect(try bridge.client().propose(proposal).outcome == .unacknowledged)
        try engine.servers[0].command("CLIENT", "KILL", "TYPE", "normal")
        // It is closed, or reset if a command of the bridge has not been read.
        try bridge.program.line(containing: "the connection")
        #expect(try propose(bridge, "a") { $0.outcome != .unreachable }.outcome == .unacknowledged)
        let answers = try (0..<2).map { _ in try bridge.client().propose(proposal).outcome }
        #expect(answers == [.unacknowledged, .unacknowledged])
        replica.thaw()
        try awaitChanges(bridge, "b")
        #expect(try bridge.client().propose(proposal).outcome == .won)
    }

    @Test("a server without an append-only file is refused, and a name that the sentinels do not have is one sentence")
    func refusals() throws {
        let wrong = try BridgeProcess(engine.url().replacing("=cooldowns", with: "=cooldown"))
        let line = try #require(try wrong.program.line())
        let sentence = "no sentinel has a primary 'cooldown': use the name of their 'sentinel monitor'"
        #expect(line == "countdownd-redis: error: \(sentence)")
        #expect(try wrong.client().propose(Propose.Proposal("a", "x.1")).reason.map(line.hasSuffix) == true)
        let port = engine.sentinels[0].port
        let direct = try BridgeProcess("redis://127.0.0.1:\(port)")
        try direct.program.line(
            containing: "127.0.0.1:\(port) is a sentinel: use sentinel=NAME, with the name of its primary"
        )
        try engine.servers[0].command("CONFIG", "SET", "appendonly", "no")
        let bridge = try BridgeProcess(engine.url())
        try bridge.program.line(
            containing: "error: 127.0.0.1:\(engine.servers[0].port) has no append-only file: with sentinels use"
        )
        try engine.servers[0].command("CONFIG", "SET", "appendonly", "yes")
        try bridge.program.line(containing: "connected to")
    }

    @Test("a sentinel that has missed a failover, or names what is no primary, is outvoted; alone, it is waited for")
    func lies() throws {
        let (primary, replica) = (engine.servers[0].port, engine.servers[1].port)
        let stale = try FakeEngine { Self.sentinel($0, primary: replica, epoch: -1) }
        let garbage = try FakeEngine { _ in .text("*1\r\n$1\r\nx\r\n") }
        let truth = "127.0.0.1:\(engine.sentinels[0].port)"
        let liars = "127.0.0.1:\(stale.port),127.0.0.1:\(garbage.port)"
        let bridge = try BridgeProcess("redis://\(liars),\(truth)/?sentinel=cooldowns")
        try bridge.program.line(containing: "at 127.0.0.1:\(primary), the primary 'cooldowns'")
        let misled = try BridgeProcess("redis://\(liars)/?sentinel=cooldowns")
        let sentence = "127.0.0.1:\(replica) is a replica: waiting for the sentinels to name another"
        try misled.program.line(containing: "error: \(sentence)")
        #expect(try misled.client().propose(Propose.Proposal("a", "x.1")) == .unreachable(reason: sentence))
        let alone = try BridgeProcess("redis://127.0.0.1:\(garbage.port)/?sentinel=cooldowns")
        try alone.program.line(
            containing: "127.0.0.1:\(garbage.port) answers SENTINEL with something else than a server"
        )
    }

    /// The answers of a sentinel that knows a primary.
    private static func sentinel(_ command: [String], primary: Int, epoch: Int) -> FakeEngine.Reply {
        switch command.prefix(2) {
        case ["SENTINEL", "MASTER"]: .text("*2\r\n$12\r\nconfig-epoch\r\n:\(epoch)\r\n")
        case ["SENTINEL", "GET-MASTER-ADDR-BY-NAME"]:
            .text("*2\r\n$9\r\n127.0.0.1\r\n$\("\(primary)".count)\r\n\(primary)\r\n")
        case ["SENTINEL", "REPLICAS"]: .text("*0\r\n")
        default: .text("+OK\r\n")
        }
    }

    @Test("sentinels may demand a user and a password of their own")
    func login() throws {
        for sentinel in engine.sentinels {
            try sentinel.command(
                "ACL",
                "SETUSER",
                "fleet",
                "on",
                ">SECRET2",
                "&*",
                "-@all",
                "+auth",
                "+ping",
                "+subscribe",
                "+sentinel|get-master-addr-by-name",
                "+sentinel|master",
                "+sentinel|replicas"
            )
        }
        let bridge = try bridge("&sentineluser=fleet&sentinelpassword=SECRET2")
        let wrong = try BridgeProcess(engine.url(parameters: "&sentineluser=fleet&sentinelpassword=SECRET3"))
        try wrong.program.line(containing: "rejects sentineluser or sentinelpassword of the URL")
        for sentinel in engine.sentinels {
            try sentinel.command("ACL", "SETUSER", "admin", "on", ">SECRET", "~*", "&*", "+@all")
            _ = try engine.administer(sentinel, ["ACL", "SETUSER", "default", "off"])
        }
        let none = try BridgeProcess(engine.url())
        try none.program.line(containing: "demands a password: use sentinelpassword=PASSWORD")
        #expect(!(bridge.program.lines + wrong.program.lines + none.program.lines).joined().contains("SECRET"))
        #expect(try bridge.client().propose(Propose.Proposal("a", "x.1")).outcome == .won)
    }
}
