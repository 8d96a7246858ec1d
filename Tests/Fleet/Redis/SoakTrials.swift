import Foundation
import Glibc
import TestSupport
import Testing

/// A fleet that works for `COUNTDOWND_SOAK_MINUTES`, with a failover every three minutes; for a short time without them.
@Suite("A fleet that works for long", .serialized)
struct SoakTrials {
    /// The engine's log has 65,536 changes, with which the answers are compared at the end.
    private static let changesPerSecond = 20

    @Test("nothing that was answered is lost in one failover after the other, and memory does not grow")
    func failovers() throws {
        let minutes = environmentNumber("COUNTDOWND_SOAK_MINUTES") ?? 0
        let (laps, seconds) = minutes > 0 ? (max(2, minutes / 3), 180) : (2, 3)
        let engine = try ReplicatedEngine(replicas: 2)
        var fleet = try Fleet(engine, urls: Array(repeating: engine.url(), count: 3))
        var load = FleetLoad(fleet, seed: 1)
        var sizes: [[Int]] = []
        for lap in 1...laps {
            for _ in 0..<seconds {
                try load.run(until: Self.changesPerSecond)
                letPass(.seconds(1))
            }
            let processes = fleet.hosts.flatMap { [$0.daemon.process.identifier, $0.bridge.program.identifier] }
            sizes.append(try processes.map(residentBytes))
            let primary = try engine.primary()
            try primary.kill()
            try load.run(until: Self.changesPerSecond)
            try engine.awaitFailover(from: primary)
            try engine.restart(primary)
            try engine.awaitWatch()
            print("failover \(lap) of \(laps); MiB: \(sizes.last?.map { $0 >> 20 } ?? [])")
        }
        try load.finish()
        fleet.engine = try engine.primary()
        let log = try load.check(against: fleet)
        #expect(log.count < 65_536, "the log does not have every change")
        guard laps >= 4 else { return }
        for process in sizes[0].indices {
            let early = sizes[..<(laps / 2)].map { $0[process] }.max() ?? 0
            let late = sizes[(laps / 2)...].map { $0[process] }.max() ?? 0
            #expect(late <= early + early / 10 + 2 << 20, "process \(process) grew from \(early) to \(late)")
        }
    }

    private func residentBytes(_ process: pid_t) throws -> Int {
        let sizes = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        return (Int(sizes.split(separator: " ")[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}
