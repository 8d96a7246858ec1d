import Testing

@Suite("Restarts, reboots and steps of the clock")
struct RestartModelTests {
    @Test(
        "in any order of events, every countdown ends when it should",
        arguments: 1...4 as ClosedRange<UInt64>
    )
    func random(seed: UInt64) throws {
        var trial = try RestartTrial(seed: seed)
        for _ in 0..<100 { try trial.step() }
        try trial.finish()
    }
}
