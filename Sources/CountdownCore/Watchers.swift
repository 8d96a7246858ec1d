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

/// The name of a watcher, given by whoever registers it.
public struct WatcherID: Hashable, Sendable {
    public let number: Int

    public init(_ number: Int) {
        self.number = number
    }
}

/// Which countdowns somebody follows.
public struct Selection: Sendable {
    public let keys: Set<Key>
    public let patterns: [Pattern]
    /// Whether all are followed, whatever their key.
    public let isEverything: Bool

    /// All countdowns.
    public static let everything = Selection(keys: [], patterns: [], isEverything: true)

    /// Those whose key is one of the keys or matches one of the patterns; none where both are empty.
    public init(keys: Set<Key>, patterns: [Pattern]) {
        self.init(keys: keys, patterns: patterns, isEverything: patterns.contains(where: \.matchesAll))
    }

    private init(keys: Set<Key>, patterns: [Pattern], isEverything: Bool) {
        self.keys = keys
        self.patterns = patterns
        self.isEverything = isEverything
    }

    /// Whether the countdown under this key is followed.
    public func contains(_ key: Key) -> Bool {
        isEverything || keys.contains(key) || patterns.contains { $0.matches(key) }
    }

    /// What it takes to ask for a key, in entries that are walked past.
    public var steps: Int { 1 + patternSteps }
    var patternSteps: Int { patterns.reduce(0) { $0 + $1.steps } }

    /// What it takes to be kept, rounded up: an exact key that is found at once stands in a table of its own.
    public var bytes: Int {
        keys.reduce(patterns.reduce(0) { $0 + $1.bytes }) { $0 + $1.text.utf8.count + (hasKeysAlone ? 512 : 128) }
    }

    /// Whether its countdowns can be found by their keys, which are few, without walking through all.
    public var hasKeysAlone: Bool { patterns.isEmpty && !isEverything && keys.count <= Policy.keysAtOnce }
}

/// Who hears of a key.
///
/// Those who follow a few keys alone are found at once; those with patterns, or with many keys, are asked one by one: so
/// that to come and to go is cheap for everybody.
struct Audience: Sendable {
    private var everything: [WatcherID] = []
    private var byKey: [Key: Set<WatcherID>] = [:]
    private var others: [(watcher: WatcherID, selection: Selection)] = []
    /// What it takes to match a key against all patterns.
    private(set) var patternSteps = 0

    mutating func insert(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything {
            everything.append(watcher)
        } else if selection.hasKeysAlone {
            for key in selection.keys { byKey[key, default: []].insert(watcher) }
        } else {
            others.append((watcher, selection))
            patternSteps += selection.patternSteps
        }
    }

    mutating func remove(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything {
            everything.removeAll { $0 == watcher }
        } else if selection.hasKeysAlone {
            for key in selection.keys {
                byKey[key]?.remove(watcher)
                if byKey[key]?.isEmpty == true { byKey[key] = nil }
            }
        } else {
            others.removeAll { $0.watcher == watcher }
            patternSteps -= selection.patternSteps
        }
    }

    func forEach(of key: Key, _ body: (WatcherID) -> Void) {
        for watcher in everything { body(watcher) }
        if !byKey.isEmpty, let watchers = byKey[key] {
            for watcher in watchers { body(watcher) }
        }
        for (watcher, selection) in others where selection.contains(key) { body(watcher) }
    }

    /// Whether all keys are heard of by the same.
    var hearsAlike: Bool { others.isEmpty && byKey.isEmpty }

    /// Whether two keys are certain to be heard of by the same; false where that would take longer to find out than to
    /// ask for each.
    func hearsAlike(of key: Key, and other: Key) -> Bool {
        key == other || others.isEmpty && byKey[key] == nil && byKey[other] == nil
    }
}
