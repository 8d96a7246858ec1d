import IPC
import Text
import Varlink

/// The wait of `run --backoff` after a failure, which the metadata of the countdown keeps. Lengths are in microseconds.
struct BackoffState {
    private static let name = "backoff"

    /// The wait after the first failure.
    let base: Int64
    let most: Int64
    /// The wait after the last run; nil if it succeeded, or is not known.
    let last: Int64?

    /// The wait after another failure.
    var next: Int64 { last.map { min(most, 2 * max(0, min($0, most))) } ?? base }

    /// The metadata of a countdown with a wait.
    static func metadata(_ wait: Int64) -> TextMap<String> {
        CooldownMark.metadata.merging([name: DurationUnit.text(wait)])
    }

    /// The wait that a countdown keeps.
    static func wait(of countdown: Countdown) -> Int64? {
        countdown.metadata?[name].flatMap { try? DurationParser.parse($0) }
    }
}
