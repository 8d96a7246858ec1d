import IPC
import Varlink

/// The countdowns of a feed: those on the board, and for a while the one that finished last.
struct FeedBoard {
    var board = CountdownBoard()
    /// A countdown that has just finished. It is shown before all others until it is removed.
    var finished: Countdown?

    /// Applies an event; returns whether a countdown has finished.
    mutating func apply(_ event: Event) -> Bool {
        switch board.apply(event) {
        case .updated(let countdown): if finished?.key.hasSameBytes(as: countdown.key) == true { finished = nil }
        case .ended(let countdown) where event.type == .finished:
            finished = countdown
            return true
        case .ended, .ticked, nil: break
        }
        return false
    }

    /// The countdowns in the order of a feed: the finished one, then the next to end.
    var countdowns: [Countdown] { (finished.map { [$0] } ?? []) + board.soonest() }
}

/// How near its end a countdown is, in the words that a bar's style names.
enum FeedClass: String {
    case running
    case soon
    case urgent
    case paused
    case finished
    /// There is no countdown.
    case idle

    /// Where `soon` and `urgent` begin, in microseconds that remain.
    struct Thresholds: Equatable {
        var soon: Int64 = 60_000_000
        var urgent: Int64 = 10_000_000
    }

    init(_ countdown: Countdown?, _ thresholds: Thresholds) {
        switch countdown?.state {
        case nil: self = .idle
        case .paused: self = .paused
        case .finished, .cancelled: self = .finished
        case .running:
            let remaining = countdown?.remainingUSec ?? 0
            self = remaining <= thresholds.urgent ? .urgent : remaining <= thresholds.soon ? .soon : .running
        }
    }
}
