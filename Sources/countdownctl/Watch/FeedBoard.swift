import IPC

/// What a feed knows: the countdowns that run or are paused, and the one that finished last for a while.
struct FeedBoard {
    private var alive: [String: Countdown] = [:]
    /// One that has just finished; it is shown before all others until somebody clears it.
    private(set) var finished: Countdown?

    /// Notes what has been told; whether a countdown has finished by it.
    mutating func take(_ event: Event) -> Bool {
        guard let key = event.key else { return false }
        switch event.type {
        case .tick:
            if let remaining = event.remainingUSec { alive[key]?.remainingUSec = remaining }
        case .finished:
            alive[key] = nil
            finished = event.countdown
            return finished != nil
        case .cancelled: alive[key] = nil
        case .attached, .started, .restarted, .adjusted, .paused, .resumed:
            if finished?.key == key { finished = nil }
            if let countdown = event.countdown { alive[key] = countdown }
        case .synced, .heartbeat: break
        }
        return false
    }

    /// Lets go of what has finished.
    mutating func clearFinished() { finished = nil }

    /// Reckons what remains at an instant, in microseconds since 1970, of all but one whose ticks tell it.
    mutating func bringUpToDate(at instant: Int64, but ticking: String? = nil) {
        for (key, countdown) in alive where countdown.state == .running && key != ticking {
            guard let deadline = countdown.deadlineUSec else { continue }
            alive[key]?.remainingUSec = max(0, deadline.clampedDifference(from: instant))
        }
    }

    /// What is shown, the first before the others: what has just finished, then what ends first.
    var countdowns: [Countdown] { (finished.map { [$0] } ?? []) + alive.values.sorted(by: CountdownTable.precedes) }
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
