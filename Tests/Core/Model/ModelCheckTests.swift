import Foundation
import Testing

@Suite("Random acts against a model")
struct ModelCheckTests {
    /// `COUNTDOWND_SEED=7 swift test --filter ModelCheckTests` runs one again.
    static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["COUNTDOWND_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...8)

    @Test("the timetable agrees with a dictionary, and every watcher with the timetable", arguments: seeds)
    func check(seed: UInt64) throws {
        var trial = Trial(seed: seed)
        for step in 0..<400 {
            do { try trial.act() } catch {
                Issue.record("seed \(seed), step \(step): \(error)")
                return
            }
        }
    }
}
