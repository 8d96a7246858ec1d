import IPC
import Varlink

/// The countdowns that people see when they look at several: timers, cooldowns if they are asked for, and those that are named.
struct ShownCountdowns {
    var hasCooldowns = false
    var selection = KeySelection()

    /// Whether an event is of a countdown that is not shown. Ticks of a cooldown do not say that it is one.
    func hides(_ event: Event) -> Bool {
        guard let key = event.key, !selection.keys.contains(where: { $0.hasSameBytes(as: key) }) else { return false }
        if ChangeMark.marks(key) { return !selection.patterns.contains(where: ChangeMark.marks) }
        return !hasCooldowns && event.countdown.map { !$0.isTimer } ?? false
    }
}

/// The countdowns of a feed: those on the board, and for a while the one that finished last.
struct FeedBoard {
    var shown = ShownCountdowns()
    var board = CountdownBoard()
    /// A countdown that has just finished. It is shown before all others until it is removed.
    var finished: Countdown?

    /// Applies an event; returns whether a countdown has finished.
    mutating func apply(_ event: Event) -> Bool {
        guard !shown.hides(event) else {
            // A timer may have had the key before.
            if let key = event.key { board.remove(key) }
            return false
        }
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
