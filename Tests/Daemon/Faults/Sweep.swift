import Foundation
import TestSupport

/// Runs of one scenario, each with another call that fails, or with another fault.
struct Sweep: Sendable {
    struct Case: Sendable {
        let kind: FaultKind
        let number: Int
        let letter: Character
    }

    /// A run mostly waits for processes.
    private static let runsAtOnce = 6

    let scenario: Scenario
    /// The calls of a run without faults.
    let trace: String
    let cases: [Case]

    /// Records a run, and returns every call of it with every fault that can happen at it.
    init(_ name: Scenario.Name) throws {
        let scenario = try Scenario(name)
        self.scenario = scenario
        trace = try FaultRun(scenario, nil).record()
        cases = trace.enumerated().flatMap { place, letter in
            FaultKind.allCases.filter { $0.isPossible(for: letter, in: scenario) }.map {
                Case(kind: $0, number: place + 1, letter: letter)
            }
        }
    }

    /// Some of the cases, with as many of each kind as of the others.
    func some(_ count: Int, using dice: inout SeededGenerator) -> [Case] {
        var earlier: [FaultKind: Int] = [:]
        let ranked = cases.shuffled(using: &dice).map { one in
            defer { earlier[one.kind, default: 0] += 1 }
            return (one, rank: earlier[one.kind, default: 0])
        }
        return ranked.sorted { $0.rank < $1.rank }.prefix(count).map(\.0)
    }

    func run(_ cases: some Collection<Case>) -> FaultTally {
        let total = Total()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = Self.runsAtOnce
        for one in cases { queue.addOperation { total.add(run(one)) } }
        queue.waitUntilAllOperationsAreFinished()
        return total.tally
    }

    private final class Total: Sendable {
        private let sum = Guarded(FaultTally())

        var tally: FaultTally { sum.withLock { $0 } }

        func add(_ tally: FaultTally) {
            sum.withLock { $0 = $0 + tally }
        }
    }

    private func run(_ one: Case) -> FaultTally {
        var tally: FaultTally
        do {
            tally = try FaultRun(scenario, one.kind, at: one.number).run()
        } catch {
            tally = FaultTally()
            tally.faults = ["\(error)"]
        }
        let place = "\(scenario.name.rawValue), \(one.kind.rawValue) at \(one.number) (\(one.letter))"
        tally.faults = tally.faults.map { "\(place): \($0)" }
        return tally
    }
}
