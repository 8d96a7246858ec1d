/// All watchers: which countdowns each of them follows, and when their ticks are due.
///
/// A watcher is added, receives the current state (a scan by the caller, which schedules each countdown that it visits), and
/// is then opened: from that moment on it receives changes and ticks.
public struct Watchers: ~Copyable, Sendable {
    private struct Watcher {
        let selection: Selection
        /// Nil if the watcher wants no ticks.
        let interval: IntervalID?
        /// Nil until the watcher is opened.
        var opened: BootInstant?
    }

    private var watchers: [WatcherID: Watcher] = [:]
    /// All watchers, opened or not.
    private var subscribers = Subscribers()
    private var ticks: TickSchedule

    /// - Parameter tickPlaces: how many entries the wheels of all intervals may have; a countdown beyond them has no ticks.
    public init(tickPlaces: Int = .max) {
        ticks = TickSchedule(capacity: tickPlaces)
    }

    /// The number of watchers, opened or not.
    public var count: Int { watchers.count }
    /// The cost of finding the watchers of a change by their patterns, in scanned entries: once for the event and once for ticks.
    public var patternSteps: Int { subscribers.patternSteps * (wantsTicks ? 2 : 1) }
    /// The number of different tick intervals.
    public var intervals: Int { ticks.count }
    /// Whether a countdown that is followed at a further interval would have ticks.
    public var hasFreePlaces: Bool { !ticks.isFull }
    /// Whether any watcher wants ticks.
    public var wantsTicks: Bool { !ticks.isEmpty }
    /// Whether there are no watchers.
    public var isEmpty: Bool { watchers.isEmpty }

    /// Whether any watcher wants ticks at this interval.
    public func hasTicks(every interval: Duration) -> Bool { ticks.id(of: interval) != nil }

    /// The cost of the patterns that are tried for each change, in scanned entries, if one more watcher had this selection.
    public func patternSteps(with selection: Selection) -> Int {
        subscribers.patternSteps + subscribers.patternSteps(adding: selection)
    }

    /// Adds a watcher that receives nothing yet.
    public mutating func add(_ id: WatcherID, following selection: Selection, every interval: Duration?) {
        remove(id)
        let interval = interval.map { ticks.insert(id, selection, every: $0) }
        watchers[id] = Watcher(selection: selection, interval: interval, opened: nil)
        subscribers.insert(id, selection)
    }

    /// Lets a watcher receive changes and ticks from this instant on.
    public mutating func open(_ id: WatcherID, at now: Now) {
        guard watchers[id]?.opened == nil else { return }
        watchers[id]?.opened = now.boot
    }

    /// Removes a watcher; nothing happens if it does not exist.
    public mutating func remove(_ id: WatcherID) {
        guard let watcher = watchers.removeValue(forKey: id) else { return }
        subscribers.remove(id, watcher.selection)
        if let interval = watcher.interval { ticks.remove(id, watcher.selection, from: interval) }
    }

    /// Calls back with each open watcher that follows a key.
    public func forEachWatcher(of key: Key, _ body: (WatcherID) -> Void) {
        subscribers.forEach(of: key) { id in
            if watchers[id]?.opened != nil { body(id) }
        }
    }

    /// Whether all keys are followed by the same watchers.
    public var allKeysHaveSameWatchers: Bool { subscribers.areSameForAllKeys }

    /// Whether two keys are certain to be followed by the same watchers.
    public func haveSameWatchers(_ key: Key, _ other: Key) -> Bool { subscribers.areSame(for: key, and: other) }

    // MARK: Ticks

    /// Schedules the ticks of a countdown for one watcher.
    public mutating func schedule(_ slot: Slot, _ countdown: KeyedCountdown, for id: WatcherID, at now: Now) {
        guard let interval = watchers[id]?.interval else { return }
        ticks.schedule(slot, countdown, at: interval, now: now)
    }

    /// Schedules the ticks of a countdown that has changed, for all watchers that follow it; one that is not running has none.
    public mutating func schedule(_ slot: Slot, _ countdown: KeyedCountdown, at now: Now) {
        guard wantsTicks else { return }
        // Most watchers have the same interval; if an interval comes up again, scheduling a second time changes nothing.
        var intervals: [IntervalID] = []
        subscribers.forEach(of: countdown.key) { id in
            if let interval = watchers[id]?.interval, interval != intervals.last { intervals.append(interval) }
        }
        for interval in intervals { ticks.schedule(slot, countdown, at: interval, now: now) }
    }

    /// When the next tick is due, as the system clock is set now; nil if no watcher wants ticks.
    public func nextTick(at now: Now) -> WallInstant? { ticks.nextTick(at: now) }

    /// Delivers the ticks that are due.
    ///
    /// - Parameters:
    ///   - now: the instant up to which ticks are due.
    ///   - timetable: has the countdowns.
    ///   - budget: how many ticks at most; less the number that was delivered or skipped afterwards.
    ///   - deliver: is called with the key of each tick, the remaining time, which is a whole multiple of the interval, and the
    ///     watchers, of which there is at least one.
    public mutating func tick(
        at now: Now,
        in timetable: borrowing Timetable,
        budget: inout Int,
        deliver: (Key, Duration, [WatcherID]) -> Void
    ) {
        var receivers: [WatcherID] = []
        while budget > 0, let due = ticks.popDue(at: now) {
            budget -= 1
            guard timetable.revision(at: due.tick.slot) == due.tick.revision else {
                ticks.cancel(due)
                continue
            }
            let key = timetable.key(at: due.tick.slot)
            var isFollowed = false
            receivers.removeAll(keepingCapacity: true)
            ticks.forEachWatcher(at: due.interval, of: key) { id in
                isFollowed = true
                // A watcher receives no tick from before it was opened, however late the tick is noticed.
                guard let opened = watchers[id]?.opened else { return }
                let start = due.clock == .elapsed ? opened.microseconds : now.wall(of: opened).microseconds
                if start < due.tick.instant { receivers.append(id) }
            }
            if !isFollowed { ticks.cancel(due) }
            guard due.tick.isNew, due.tick.remaining > .zero, !receivers.isEmpty else { continue }
            deliver(key, due.tick.remaining, receivers)
        }
    }

    /// Reschedules the countdowns that follow the system clock, after it was set.
    public mutating func clockWasSet(at now: Now) { ticks.clockWasSet(at: now) }
}
