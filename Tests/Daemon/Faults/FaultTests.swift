import TestSupport
import Testing

/// Among these are kills during the first start, a later start, a quarantine and a clean stop.
@Suite("A daemon at which a system call fails, or that is killed at one", .serialized, .withoutSanitizers)
struct FaultTests {
    @Test("it keeps what it has answered and nothing else, for every call", arguments: Setting.scenarios)
    func calls(_ name: Scenario.Name) throws {
        let sweep = try Sweep(name)
        var dice = SeededGenerator(seed: Setting.seed)
        let cases = Setting.faults.map { sweep.some($0, using: &dice) } ?? sweep.cases
        let tally = sweep.run(cases)
        print("faults in \(name.rawValue), \(sweep.trace.count) calls, seed \(Setting.seed): \(tally)")
        let faults = tally.faults.prefix(20).joined(separator: "\n")
        #expect(tally.faults.isEmpty, "COUNTDOWND_SEED=\(Setting.seed): \(tally.faults.count) faults\n\(faults)")
    }
}
