import Foundation
import Glibc
import IPC
import TestSupport
import Testing

/// Faults of a primary with two replicas and three sentinels while changes are made: `COUNTDOWND_FAULTS` of each kind.
@Suite("Changes during the faults of a replicated engine", .serialized)
struct LossTrials {
    private let faults = environmentNumber("COUNTDOWND_FAULTS") ?? 3
    private let engine: ReplicatedEngine
    private let fleet: Fleet

    init() throws {
        engine = try ReplicatedEngine(replicas: 2, options: ["--min-replicas-to-write", "1"])
        for server in engine.servers { try Self.addUser(to: server) }
        let url = engine.url(credentials: "countdownd:SECRET@")
        fleet = try Fleet(engine, urls: [url, url, url])
    }

    private static func addUser(to server: RedisServer) throws {
        try server.command("ACL", "SETUSER", "countdownd", "on", ">SECRET", "~*", "&*", "+@all")
    }

    @Test("a failover by hand loses no answered change")
    func demotions() throws {
        try run { fault, former, load in
            var isReplaced = false
            while !isReplaced {
                // It can fail, because not enough sentinels vote for it in time.
                let end = Deadline(after: .seconds(10))
                try engine.sentinels[fault % 3].command("SENTINEL", "FAILOVER", "cooldowns")
                try load.run(during: {
                    isReplaced = try engine.primary().port != former.port
                    return !isReplaced && !end.hasPassed
                })
            }
        }
    }

    @Test("a primary that is killed loses no answered change, also with SENTINEL RESET or a new replica meanwhile")
    func deaths() throws {
        try run { fault, primary, load in
            try primary.kill()
            try load.run(during: { try engine.primary().port == primary.port })
            // A sentinel that is reset during the failover keeps the former primary.
            try load.run(during: {
                try engine.sentinels.contains { try $0.knowledge()["port"] == "\(primary.port)" }
            })
            if fault % 3 == 1 { for sentinel in engine.sentinels { try sentinel.command("SENTINEL", "RESET", "*") } }
            if fault % 3 == 2 { try load.run(until: 20) }
            try primary.start(["--replicaof", "127.0.0.1", "\(engine.primary().port)"])
            try load.run(until: 20)
            try primary.awaitReadiness()
            try Self.addUser(to: primary)
        }
    }

    @Test("a primary that hangs for about as long as the sentinels wait loses no answered change")
    func hangs() throws {
        var generator = SeededGenerator(seed: 1)
        try run { _, primary, load in
            let time = Duration.milliseconds(Int.random(in: 300...2_000, using: &generator))
            // The sentinels may replace it while it answers again.
            let end = Deadline(after: time + .seconds(2))
            try primary.freeze(for: time)
            try load.run(during: { !end.hasPassed })
        }
    }

    @Test("the loss of one replica's link, of both, or of all links of the primary loses no answered change")
    func links() throws {
        var generator = SeededGenerator(seed: 2)
        try run { fault, primary, load in
            let end = Deadline(after: .milliseconds(Int.random(in: 300...3_000, using: &generator)))
            switch fault % 3 {
            case 0: try engine.isolate(primary, fromSentinels: true)
            case 1: try engine.isolate(primary, fromSentinels: false)
            default: try engine.isolate(primary, fromSentinels: false, replicas: 1)
            }
            try load.run(during: {
                try fault % 3 == 0 ? engine.primary().port == primary.port : !end.hasPassed
            })
            try engine.reunite(primary)
        }
    }

    /// Makes changes before, during and after each fault, and compares the answers with the log of the engine that is left.
    private func run(_ inflict: (Int, RedisServer, inout FleetLoad) throws -> Void) throws {
        var fleet = fleet
        var answered = 0
        for fault in 1...faults {
            try fleet.engine.command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1")
            var load = FleetLoad(fleet, seed: UInt64(fault), name: "\(fault)/")
            try load.run(until: 20)
            try inflict(fault, fleet.engine, &load)
            try ReplicatedEngine.awaitReplicas(2, of: engine.primary)
            try engine.awaitWatch()
            try fleet.awaitChanges()
            try load.run(until: 100)
            try load.finish()
            fleet.engine = try engine.primary()
            _ = try load.check(against: fleet)
            answered += load.fates.count { $0.value == .made }
        }
        print("\(faults) faults, \(answered) answered changes")
        #expect(answered >= 100 * faults)
    }
}
