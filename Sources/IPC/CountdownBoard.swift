public import Varlink

/// The countdowns that are running or paused, as the events of a watch report them. It does no I/O and reads no clock.
///
/// A board stays right across restarts of the daemon if it is given every ``WatchEvent``.
public struct CountdownBoard: Sendable {
    /// The effect of an event on the board.
    public enum Effect: Sendable, Equatable {
        /// A countdown is new, or its fields have changed.
        case updated(Countdown)
        /// Only the remaining time of a countdown has changed.
        case ticked(Countdown)
        /// A countdown has finished or was cancelled; as it was at its end.
        case ended(Countdown)
    }

    /// The countdowns by their keys, as they were reported last.
    public private(set) var countdowns: TextMap<Countdown> = [:]
    /// Whether everything that was there in the beginning has been reported.
    public private(set) var isSynced = false
    /// The instant up to which it has counted.
    private var counted: Duration?

    /// An empty board.
    public init() {}

    /// Takes an event of the watch.
    ///
    /// - Returns: the change; nil if nothing changed.
    public mutating func apply(_ event: Event) -> Effect? {
        if event.type == .synced { isSynced = true }
        guard let key = event.key else { return nil }
        switch event.type {
        case .attached, .started, .restarted, .adjusted, .paused, .resumed: return update(key, event)
        case .tick: return tick(key, event)
        case .finished, .cancelled: return end(key, event)
        case .synced, .heartbeat: return nil
        }
    }

    /// Takes a change of the watch itself. Its `events` are for ``apply(_:)``.
    public mutating func apply(_ event: WatchEvent) {
        switch event {
        case .historyTrimmed: (countdowns, isSynced) = ([:], false)
        case .forgotten(let keys): for key in keys { remove(key) }
        case .current(let countdowns):
            self.countdowns = [:]
            for countdown in countdowns { apply(countdown) }
        case .started, .lost, .stillLost, .events, .recovered: break
        }
    }

    /// Takes a countdown as another call returned it. One that has ended leaves the board.
    public mutating func apply(_ countdown: Countdown) {
        switch countdown.state {
        case .running, .paused: countdowns[countdown.key] = countdown
        case .finished, .cancelled: countdowns[countdown.key] = nil
        }
    }

    /// Takes a countdown off the board of which the daemon knows nothing any more.
    public mutating func remove(_ key: String) { countdowns[key] = nil }

    /// Takes the time since the last call off the remaining time of running countdowns. Deadlines are not used, because in a fleet the
    /// clock of deadlines may differ from the clock of the machine.
    ///
    /// - Parameter now: an instant of a clock that is not set.
    public mutating func count(to now: Duration) {
        let elapsed = now - (counted ?? now)
        for key in countdowns.keys { countdowns[key]?.count(elapsed) }
        counted = now
    }

    /// The countdowns that end first, in that order; paused ones come last.
    ///
    /// - Parameter count: how many at most.
    /// - Returns: the countdowns.
    public func soonest(_ count: Int = .max) -> [Countdown] {
        // Sorting everything costs more than an insertion only if few of many are wanted.
        guard countdowns.count > 1_000, count < 100 else {
            return Array(countdowns.values.sorted { $0.endsBefore($1) }.prefix(count))
        }
        var first: [Countdown] = []
        for countdown in countdowns.values {
            if first.count == count {
                guard let last = first.last, countdown.endsBefore(last) else { continue }
                first.removeLast()
            }
            first.insert(countdown, at: first.firstIndex { countdown.endsBefore($0) } ?? first.endIndex)
        }
        return first
    }

    private mutating func update(_ key: String, _ event: Event) -> Effect? {
        // `adjusted` without a countdown says that the system clock was set.
        guard let countdown = event.countdown else { return tick(key, event) }
        countdowns[key] = countdown
        return .updated(countdown)
    }

    private mutating func tick(_ key: String, _ event: Event) -> Effect? {
        guard var countdown = countdowns[key], let remaining = event.remainingUSec else { return nil }
        countdown.remainingUSec = remaining
        countdowns[key] = countdown
        return .ticked(countdown)
    }

    private mutating func end(_ key: String, _ event: Event) -> Effect? {
        let last = countdowns.removeValue(forKey: key)
        return (event.countdown ?? last).map { .ended($0) }
    }
}

extension Countdown {
    /// Takes time that has passed off the remaining time, if it runs.
    package mutating func count(_ elapsed: Duration) {
        if state == .running { remainingUSec = max(remainingUSec, elapsed.microseconds) - elapsed.microseconds }
    }

    /// Whether this countdown comes before another one in the order of their ends: running ones by their deadlines, then
    /// paused ones by their remaining time, then ended ones, the last to end first. Keys decide between equal ones.
    public func endsBefore(_ other: Countdown) -> Bool {
        endOrder == other.endOrder ? key < other.key : endOrder < other.endOrder
    }

    private var endOrder: (Int, Int64) {
        switch state {
        case .running: (0, deadlineUSec ?? 0)
        case .paused: (1, remainingUSec)
        case .finished, .cancelled: (2, ~(endedUSec ?? 0))
        }
    }
}
