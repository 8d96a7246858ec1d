/// The results of runs.
struct FaultTally: Sendable, CustomStringConvertible {
    var runs = 0
    /// Runs in which the call was made, and daemons that were killed at it.
    var reached = 0
    var killed = 0
    /// Changes that were made, and changes that were answered with StorageFailed.
    var answered = 0
    var failed = 0
    /// Ends that were delivered.
    var endings = 0
    /// Broken promises.
    var faults: [String] = []
    /// The calls, a letter each.
    var trace = ""

    static func + (left: FaultTally, right: FaultTally) -> FaultTally {
        FaultTally(
            runs: left.runs + right.runs,
            reached: left.reached + right.reached,
            killed: left.killed + right.killed,
            answered: left.answered + right.answered,
            failed: left.failed + right.failed,
            endings: left.endings + right.endings,
            faults: left.faults + right.faults
        )
    }

    var description: String {
        """
        \(runs) runs, \(reached) of them reached their call, \(killed) daemons killed at it; \(answered) changes stored, \
        \(failed) answered with StorageFailed, \(endings) endings told
        """
    }
}
