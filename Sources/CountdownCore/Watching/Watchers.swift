/// Who follows what, and when their ticks are due.
///
/// A watcher is added, is shown what there is (that is the caller's walk, each countdown met there `boards`), and then
/// opened: from then on it hears of changes and ticks.
public struct Watchers: Sendable {
    /// "So much remains", for those who follow a countdown at one interval.
    public struct Tick: Sendable {
        public let slot: Slot
        public let key: Key
        /// A whole multiple of the interval.
        public let remaining: TimeSpan
    }

    private struct Watcher {
        let selection: Selection
        /// Nil where no ticks are wanted.
        let pace: PaceID?
        /// When it was opened, nil before.
        var opened: BootInstant?
    }

    private var watchers: [WatcherID: Watcher] = [:]
    /// All of them, the open ones and the others.
    private var audience = Audience()
    private var paces: Paces

    /// - Parameter tickPlaces: how many places countdowns may have at all intervals together; who finds none has no ticks.
    public init(tickPlaces: Int = .max) {
        paces = Paces(places: tickPlaces)
    }

    /// Those that are added, opened or not.
    public var count: Int { watchers.count }
    /// What it takes to match a key against all patterns of theirs.
    public var patternSteps: Int { audience.patternSteps }
    /// At how many intervals ticks are wanted.
    public var intervals: Int { paces.count }
    /// Whether a countdown that is followed at one more interval finds a place there.
    public var hasFreePlaces: Bool { !paces.isFull }
    /// Whether anybody wants ticks.
    public var wantsTicks: Bool { !paces.isEmpty }
    /// Whether there is nobody.
    public var isEmpty: Bool { watchers.isEmpty }

    /// Whether anybody wants ticks at this interval.
    public func hasTicks(every interval: TimeSpan) -> Bool { paces.has(interval) }

    /// Registers a watcher that does not hear anything yet.
    public mutating func add(_ id: WatcherID, following selection: Selection, every interval: TimeSpan?) {
        remove(id)
        let pace = interval.map { paces.insert(id, selection, every: $0) }
        watchers[id] = Watcher(selection: selection, pace: pace, opened: nil)
        audience.insert(id, selection)
    }

    /// Lets a watcher hear what happens from this instant on.
    public mutating func open(_ id: WatcherID, at now: Now) {
        guard watchers[id]?.opened == nil else { return }
        watchers[id]?.opened = now.boot
    }

    /// Forgets a watcher; nothing happens where it is not known.
    public mutating func remove(_ id: WatcherID) {
        guard let watcher = watchers.removeValue(forKey: id) else { return }
        audience.remove(id, watcher.selection)
        if let pace = watcher.pace { paces.remove(id, watcher.selection, from: pace) }
    }

    /// Calls back with each open watcher that follows a key.
    public func forEachHearer(of key: Key, _ body: (WatcherID) -> Void) {
        audience.forEach(of: key) { id in
            if watchers[id]?.opened != nil { body(id) }
        }
    }

    /// Whether all keys are heard of by the same watchers.
    public var hearAlike: Bool { audience.hearsAlike }

    /// Whether two keys are certain to be heard of by the same watchers.
    public func hearAlike(of key: Key, and other: Key) -> Bool {
        audience.hearsAlike(of: key, and: other)
    }

    // MARK: Ticks

    /// Puts a countdown on the wheel of one watcher's interval.
    public mutating func board(_ slot: Slot, _ countdown: Countdown, for id: WatcherID, at now: Now) {
        guard let pace = watchers[id]?.pace else { return }
        paces.board(slot, countdown, on: pace, at: now)
    }

    /// Puts a countdown that has changed where its ticks are due now, for all who follow it; one that does not run has
    /// none.
    public mutating func board(_ slot: Slot, _ countdown: Countdown, at now: Now) {
        guard wantsTicks else { return }
        // Most follow at the same pace; where they do not, boarding a wheel a second time changes nothing.
        var hearing: [PaceID] = []
        audience.forEach(of: countdown.key) { id in
            if let pace = watchers[id]?.pace, pace != hearing.last { hearing.append(pace) }
        }
        for pace in hearing { paces.board(slot, countdown, on: pace, at: now) }
    }

    /// When the next tick is due, as the system clock is set now; nil where nobody waits for one.
    public func nextTick(at now: Now) -> WallInstant? {
        paces.nextTick(at: now)
    }

    /// Tells the ticks that are due.
    ///
    /// - Parameters:
    ///   - now: what is due by then.
    ///   - timetable: where the countdowns are.
    ///   - limit: how many at most; less what was told or passed afterwards.
    ///   - tell: is given each tick and those who hear it; no tick has nobody.
    public mutating func tick(
        at now: Now,
        in timetable: Timetable,
        limit: inout Int,
        tell: (Tick, [WatcherID]) -> Void
    ) {
        var hearers: [WatcherID] = []
        while limit > 0, let due = paces.takeDue(at: now) {
            limit -= 1
            guard timetable.revision(at: due.tick.slot) == due.tick.revision else {
                paces.drop(due)
                continue
            }
            let key = timetable.key(at: due.tick.slot)
            hearers.removeAll(keepingCapacity: true)
            if !find(&hearers, of: due, key, at: now) { paces.drop(due) }
            guard due.tick.isNew, due.tick.remaining > .zero, !hearers.isEmpty else { continue }
            tell(Tick(slot: due.tick.slot, key: key, remaining: due.tick.remaining), hearers)
        }
    }

    /// Adds those who hear a tick. That it may change what it only looks at keeps it from being copied.
    /// - Returns: whether anybody follows its countdown at all.
    private mutating func find(_ hearers: inout [WatcherID], of due: Paces.Due, _ key: Key, at now: Now) -> Bool {
        var isFollowed = false
        paces.forEachWatcher(at: due.pace, of: key) { id in
            isFollowed = true
            // What lies before a watcher was opened is over for it, however late it is noticed.
            guard let opened = watchers[id]?.opened else { return }
            let start = due.clock == .elapsed ? opened.microseconds : now.wall(of: opened).microseconds
            if start < due.tick.instant { hearers.append(id) }
        }
        return isFollowed
    }

    /// Finds the ticks of countdowns that follow the system clock anew, after it was set.
    public mutating func clockWasSet(at now: Now) {
        paces.clockWasSet(at: now)
    }
}
