import Foundation
import TestSupport
import Testing

/// A model of the contract, written from the interface definition and docs/protocol.md alone: many clients call, watch, go
/// away and come back while daemons are killed, and everything that they receive must fit into one history.
///
/// `COUNTDOWND_SEED`, `COUNTDOWND_MODEL_CALLS` and `COUNTDOWND_KILLS` set the seed, and the number of calls and kills.
@Suite("The contract", .serialized)
struct ModelTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(
        "every reply and every event fits into one history by revision, through kills and restarts",
        arguments: [nil, 1, 0] as [Int?]
    )
    func history(keptEnds: Int?) throws {
        let seed = UInt64(Self.number("COUNTDOWND_SEED") ?? .random(in: 1..<1_000_000))
        let run = try ModelRun(seed: seed, keptEnds: keptEnds)
        let (calls, kills) = (Self.number("COUNTDOWND_MODEL_CALLS") ?? 2_000, Self.number("COUNTDOWND_KILLS") ?? 12)
        let faults = try run.run(calls: calls, kills: (kills + 2) / 3)
        print("model run, seed \(seed), --history \(keptEnds.map { "\($0)" } ?? "default"): \(run.summary)")
        let sample = faults.prefix(10).joined(separator: "\n")
        #expect(faults.count == 0, "COUNTDOWND_SEED=\(seed): \(faults.count) faults\n\(sample)")
    }
}
