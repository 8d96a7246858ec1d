import Foundation
import IPC
import TestSupport
import Testing

/// Fleets whose engine has a replica and sentinels.
@Suite("Failovers", .serialized)
struct FailoverTrials {
    private func fleet(_ engine: ReplicatedEngine, _ parameters: String = "") throws -> Fleet {
        try Fleet(engine, urls: Array(repeating: engine.url(parameters: parameters), count: 3))
    }

    @Test("a failover without acknowledgements loses changes: every host cancels them, and logs it once")
    func lossyFailover() throws {
        let engine = try ReplicatedEngine(replicas: 2)
        var fleet = try fleet(engine, "&acks=0")
        let primary = fleet.engine
        try fleet.hosts[0].start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        let watches = try fleet.watches()
        try waitUntil("the replicas to have the change") {
            try engine.servers.allSatisfy { try $0.records()["kept"] != nil }
        }
        try engine.isolate(primary, fromSentinels: false)
        #expect(try fleet.hosts[1].start("lost", .seconds(3_600)).outcome == .started)
        for watch in watches { try watch.events(through: .started, of: "lost") }
        try primary.kill()
        fleet.engine = try engine.awaitFailover(from: primary)
        try fleet.awaitChanges()
        for (host, watch) in zip(fleet.hosts, watches) {
            try watch.awaitTrimming()
            #expect(try host.get("lost").state == .cancelled)
        }
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["kept"] != nil)
        for host in fleet.hosts {
            #expect(host.daemon.standardError.matches(of: /another history/).count == 1)
        }
    }

    @Test("after a failover, changes do not wait until the sentinels find the former primary down again")
    func gap() throws {
        let engine = try ReplicatedEngine(replicas: 2, options: ["--min-replicas-to-write", "1"])
        var fleet = try fleet(engine)
        for sentinel in engine.sentinels {
            try sentinel.command("SENTINEL", "SET", "cooldowns", "down-after-milliseconds", "4000")
        }
        let primary = fleet.engine
        try fleet.hosts[0].start("kept", .seconds(3_600))
        let begin = ContinuousClock.now
        try primary.kill()
        var bare: Duration?
        let host = fleet.hosts[0]
        var made = false
        try waitUntil("a change") {
            // A client that asks a sentinel and writes with an acknowledgement.
            if bare == nil, let server = try? engine.primary(), server.port != primary.port,
                (try? server.command("SET", "bare", "1")) == "OK", (try? server.command("WAIT", "1", "100")) == "1"
            {
                bare = .now - begin
            }
            made = (try? host.start("new", .seconds(3_600)).outcome) == .started
            return made
        }
        let gap = ContinuousClock.now - begin
        print("after the primary was killed, a bare client waited for \(bare ?? gap), the fleet for \(gap)")
        // At the second time it would be down for as long again.
        let isDown = try engine.sentinels.contains { sentinel in
            try sentinel.command("SENTINEL", "REPLICAS", "cooldowns").contains("s_down")
        }
        #expect(!isDown)
        fleet.engine = try engine.awaitFailover(from: primary)
        #expect(try fleet.awaitEqual()["kept"] != nil)
    }

    @Test("if a majority of the sentinels is lost and a replica hangs, the status has the reason, although it follows")
    func silentSentinels() throws {
        let engine = try ReplicatedEngine(replicas: 2)
        let fleet = try fleet(engine)
        for sentinel in engine.sentinels[..<2] { try sentinel.kill() }
        try engine.servers[2].freeze()
        #expect(throws: CountdownError.self) { try fleet.hosts[0].start("unknown", .seconds(3_600)) }
        // The changes of another host do not hide it.
        #expect(throws: CountdownError.self) { try fleet.hosts[1].start("unknown too", .seconds(3_600)) }
        for host in fleet.hosts[..<2] {
            let status = try host.call(GetStatus())
            let shard = try #require(status.fleet?.shards.first)
            #expect(shard.state == .live)
            #expect(shard.reason?.contains("can become the primary") == true)
            #expect(status.storageFailure == shard.reason)
        }
        engine.servers[2].thaw()
        try fleet.awaitChanges()
        for host in fleet.hosts { #expect(try host.call(GetStatus()).storageFailure == nil) }
    }

    @Test(
        "a replica that the sentinels can no longer choose is left out, and has all changes when it is back",
        arguments: ["killed", "frozen", "cut off"]
    )
    func leftOutReplica(fault: String) throws {
        let engine = try ReplicatedEngine(replicas: 2)
        let fleet = try fleet(engine)
        let replica = engine.servers[2]
        switch fault {
        case "killed": try replica.kill()
        case "frozen": try replica.freeze()
        default:
            // The primary has no such user.
            try replica.command("CONFIG", "SET", "masteruser", "nobody", "masterauth", "SECRET")
            try fleet.engine.command("CLIENT", "KILL", "TYPE", "replica")
        }
        // The others do not last for long.
        try waitUntil("a refusal that says when it ends") {
            guard fault == "cut off" else { return true }
            do {
                try fleet.hosts[0].start("refused", .seconds(3_600), .restart)
            } catch CountdownError.storageFailed(let reason) {
                return reason.contains("made again when it is connected, or when the sentinels find it down")
            } catch CountdownError.unreachable {}
            return false
        }
        try fleet.awaitChanges()
        try fleet.hosts[0].start("meanwhile", .seconds(3_600))
        #expect(try replica.isAnswering == false || replica.records()["meanwhile"] == nil)
        switch fault {
        case "killed": try engine.restart(replica)
        case "frozen": replica.thaw()
        default: try replica.command("CONFIG", "SET", "masteruser", "", "masterauth", "")
        }
        try ReplicatedEngine.awaitReplicas(2, of: engine.primary)
        try fleet.awaitChanges()
        // It may still load its data.
        try waitUntil("the replica to have the change") { (try? replica.records())?["meanwhile"] != nil }
        #expect(try engine.primary() === fleet.engine)
    }

    @Test("without its replica the engine refuses changes, after some that are unknown; the rest goes on")
    func lostReplica() throws {
        let engine = try ReplicatedEngine(options: ["--min-replicas-to-write", "1", "--min-replicas-max-lag", "4"])
        let fleet = try fleet(engine)
        let replica = engine.servers[1]
        let host = fleet.hosts[0]
        try host.start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        try replica.freeze()
        #expect(throws: CountdownError.unreachable(reason: "too few replicas have acknowledged the change")) {
            try host.start("unknown", .seconds(3_600))
        }
        let sentence = "0 replicas of 127.0.0.1:\(fleet.engine.port) acknowledge changes in time"
        try host.bridge.program.line(containing: sentence)
        try awaitRefusal(of: host)
        for host in fleet.hosts {
            #expect(try host.start("kept", .seconds(60)).outcome == .attached)
            #expect(try host.get("kept").state == .running)
        }
        replica.thaw()
        try fleet.awaitChanges()
        try host.bridge.program.line(containing: "acknowledge changes again")
        // If it was killed, the engine knows that at once.
        try replica.kill()
        try awaitRefusal(of: fleet.hosts[1])
        try engine.restart(replica)
        try fleet.awaitChanges()
        #expect(try fleet.awaitEqual()["unknown"] != nil)
        for host in fleet.hosts { #expect(!host.daemon.standardError.contains("another history")) }
    }

    /// Waits until changes are refused for want of replicas.
    private func awaitRefusal(of host: Host) throws {
        try waitUntil("a refusal by \(host.daemon.standardError)") {
            do {
                try host.start("refused", .seconds(3_600), .restart)
                return false
            } catch CountdownError.unreachable {
                return false
            } catch CountdownError.storageFailed(let reason) {
                return reason.contains("too few replicas and refuses changes: NOREPLICAS")
            }
        }
    }

    @Test("a host that is cut off with the old primary makes no change, and has what the others have afterwards")
    func isolatedHost() throws {
        let options = ["--min-replicas-to-write", "1", "--min-replicas-max-lag", "2"]
        let engine = try ReplicatedEngine(replicas: 2, options: options)
        for server in engine.servers {
            try server.command("ACL", "SETUSER", "countdownd", "on", ">SECRET", "~*", "&*", "+@all")
        }
        let places = [[0, 1], [0, 1], [2]]
        let urls = places.map { engine.url(sentinels: $0, credentials: "countdownd:SECRET@") }
        var fleet = try Fleet(engine, urls: urls)
        let (primary, isolated) = (fleet.engine, fleet.hosts[2])
        for key in ["kept", "cancelled"] { try fleet.hosts[0].start(key, .seconds(3_600)) }
        try fleet.awaitEqual()
        try engine.sentinels[2].freeze()
        try engine.isolate(primary, fromSentinels: true)
        try awaitRefusal(of: isolated)
        fleet.engine = try engine.awaitFailover(from: primary)
        #expect(try isolated.start("kept", .seconds(60)).outcome == .attached)
        for host in fleet.hosts[..<2] { try host.awaitChanges() }
        _ = try fleet.hosts[0].call(Cancel(key: "cancelled"))
        #expect(try isolated.get("cancelled").state == .running)
        engine.sentinels[2].thaw()
        try engine.reunite(primary)
        try fleet.awaitChanges()
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["kept"] != nil)
        #expect(countdowns["cancelled"] == nil)
        #expect(try isolated.get("cancelled").state == .cancelled)
        try waitUntil("the old primary to be a replica") { primary.isReplica }
    }
}
