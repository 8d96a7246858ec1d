import Foundation
import Testing

@Suite("A daemon that is killed")
struct CrashTests {
    @Test("whatever was answered is there again, and whatever ended is told once")
    func kills() throws {
        let seed = Setting.seed
        let report = try CrashRun(seed: seed).run(kills: Setting.kills)
        print("crash run, seed \(seed): \(report.summary)")
        let faults = report.faults.prefix(20).joined(separator: "\n")
        #expect(report.faults.isEmpty, "COUNTDOWND_SEED=\(seed): \(report.faults.count) faults\n\(faults)")
    }
}

/// What `make crash` sets, for longer runs or for one that is to be repeated.
enum Setting {
    static let seed = number("COUNTDOWND_SEED") ?? UInt64.random(in: 1..<1_000_000)
    static let kills = Int(number("COUNTDOWND_KILLS") ?? 12)

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
