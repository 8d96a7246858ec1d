import Foundation
import IPC
import TestSupport
import Testing

@Suite("Processes that are killed under load", .serialized)
struct KillTrials {
    private let seed = UInt64(environmentNumber("COUNTDOWND_SEED") ?? 1)
    private let times = environmentNumber("COUNTDOWND_KILLS")
    private var generator = SeededGenerator(seed: 0)

    @Test("no change that was answered is lost or made twice, and no end is announced twice or never")
    mutating func kills() throws {
        let fleet = try Fleet()
        var load = FleetLoad(fleet, seed: seed)
        let observers = try fleet.hosts.map { try EndObserver($0) }
        try kill(of: fleet, &load, observers, times: times ?? 12) { load, answers in
            try fleet.engine.kill()
            try load.run(until: answers)
            try fleet.engine.start()
        }
        let log = try load.check(against: fleet)
        let countdowns = try fleet.awaitEqual()
        let ended = Set(log.map(\.key).filter { $0.hasPrefix("started/") }).subtracting(countdowns.keys)
        for (host, observer) in zip(fleet.hosts, observers) {
            try observer.catchUp()
            #expect(Set(observer.ends.keys) == ended)
            #expect(observer.ends.filter { $0.value > 1 }.isEmpty)
            #expect(observer.trims == 0)
            #expect(!host.daemon.standardError.contains("another history"))
        }
    }

    @Test("with replicas and sentinels, no change that was answered is lost or made twice by one fault at a time")
    mutating func failovers() throws {
        let engine = try ReplicatedEngine(replicas: 2)
        var fleet = try Fleet(engine, urls: Array(repeating: engine.url(), count: 3))
        var load = FleetLoad(fleet, seed: seed)
        var faults = SeededGenerator(seed: seed)
        try kill(of: fleet, &load, [], times: times ?? 6) { load, answers in
            let primary = try engine.primary()
            let replica = try #require(engine.servers.filter { $0 !== primary }.randomElement(using: &faults))
            let server = [primary, primary, replica].randomElement(using: &faults) ?? primary
            try server.kill()
            if server === primary { try engine.awaitFailover(from: server) }
            try load.run(until: answers)
            try engine.restart(server)
            try engine.awaitWatch()
        }
        fleet.engine = try engine.primary()
        _ = try load.check(against: fleet)
    }

    /// Kills engines, bridges and daemons at random while calls are made.
    private mutating func kill(
        of fleet: Fleet,
        _ load: inout FleetLoad,
        _ observers: [EndObserver],
        times: Int,
        engine killEngine: (inout FleetLoad, Int) throws -> Void
    ) throws {
        generator = SeededGenerator(seed: seed)
        for _ in 0..<times {
            try load.run(until: Int.random(in: 1...60, using: &generator))
            let host = fleet.hosts[Int.random(in: 0..<3, using: &generator)]
            let answersMeanwhile = Int.random(in: 0...30, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: try killEngine(&load, answersMeanwhile)
            case 1:
                try host.bridge.program.kill()
                try load.run(until: answersMeanwhile)
                try host.bridge.start()
            default:
                try host.daemon.kill()
                try load.run(until: answersMeanwhile)
                try host.restartDaemon()
            }
            try fleet.awaitChanges()
            for observer in observers { try observer.read() }
        }
        try load.finish()
    }
}
