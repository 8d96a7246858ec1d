import Foundation

/// The variables of `scripts/crash`, for longer runs and for repeating a run.
enum Setting {
    static let seed = number("COUNTDOWND_SEED") ?? UInt64.random(in: 1..<1_000_000)
    /// How many faults of each scenario are tried; nil for all, which `COUNTDOWND_FAULTS=0` sets.
    static let faults = [Int(number("COUNTDOWND_FAULTS") ?? 16)].first { $0 > 0 }
    /// The scenarios in which calls fail: `COUNTDOWND_ONLY` names one.
    static let scenarios =
        ProcessInfo.processInfo.environment["COUNTDOWND_ONLY"].map { name in
            Scenario.Name.allCases.filter { $0.rawValue == name }
        } ?? Scenario.Name.allCases

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
