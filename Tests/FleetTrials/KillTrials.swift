import Foundation
import IPC
import TestSupport
import Testing

@Suite("Processes that are killed under load", .serialized)
struct KillTrials {
    private static func number(_ variable: String, default usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? usual
    }

    @Test("no change that was answered is lost or made twice, and no end is announced twice or never")
    func kills() throws {
        let seed = UInt64(Self.number("COUNTDOWND_SEED", default: 1))
        var generator = SeededGenerator(seed: seed)
        let fleet = try Fleet()
        var load = FleetLoad(fleet, seed: seed)
        let observers = try fleet.hosts.map { try EndObserver($0) }
        for _ in 0..<Self.number("COUNTDOWND_KILLS", default: 12) {
            try load.run(until: Int.random(in: 1...60, using: &generator))
            let host = fleet.hosts[Int.random(in: 0..<3, using: &generator)]
            let answersMeanwhile = Int.random(in: 0...30, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                try fleet.engine.kill()
                try load.run(until: answersMeanwhile)
                try fleet.engine.start()
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
        try check(load, observers, fleet)
    }

    private func check(_ load: FleetLoad, _ observers: [EndObserver], _ fleet: Fleet) throws {
        let log = try fleet.engine.log()
        let last = log.compactMap { $0.record.duration < .hour ? $0.record.deadline : nil }.max() ?? 0
        try waitUntil("the last end") { try wallClock() > last }
        let countdowns = try fleet.awaitEqual()

        var made: [FleetLoad.Change: Int] = [:]
        for (key, record) in log {
            let change = record.kind == "cancelled" ? .cancelled(key) : FleetLoad.Change.labelled(record.label ?? "")
            made[change, default: 0] += 1
        }
        for (change, fate) in load.fates {
            let expected =
                switch fate {
                case .made: 1...1
                case .notMade: 0...0
                case .unknown: 0...1
                }
            #expect(expected.contains(made[change] ?? 0), "\(change) was answered as \(fate)")
        }
        for key in FleetLoad.extended {
            #expect(countdowns[key]?.duration ?? 0 == Int64(log.count { $0.key == key }) * .hour)
        }
        let ended = Set(log.map(\.key).filter { $0.hasPrefix("started/") }).subtracting(countdowns.keys)
        for (host, observer) in zip(fleet.hosts, observers) {
            try observer.catchUp()
            #expect(Set(observer.ends.keys) == ended)
            #expect(observer.ends.filter { $0.value > 1 }.isEmpty)
            #expect(observer.trims == 0)
            #expect(!host.daemon.standardError.contains("another history"))
        }
        let fates = Dictionary(grouping: load.fates.values) { $0 }.mapValues(\.count)
        print("\(fates[.made] ?? 0) changes made, \(fates[.notMade] ?? 0) not, \(fates[.unknown] ?? 0) unknown")
    }
}
