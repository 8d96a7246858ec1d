import CountdownCore

/// The turns of a daemon without sockets and store: expire, apply requests, deliver both, deliver ticks, compact.
final class Turns {
    /// An event of a watcher.
    enum Heard: Equatable {
        case attached(KeyedCountdown)
        case synced(Revision)
        case change(Change)
        case tick(Key, remaining: Duration)
        case missed
    }

    /// The change that a request has made, nil if it was attached or waits; or why it was refused.
    typealias Outcome = Result<Change?, Refusal>

    /// When it was received.
    struct Note: Equatable {
        let at: Now
        let heard: Heard
    }

    var scene: RunningTimetable
    var watchers = Watchers()
    /// The events of each watcher, in their order.
    private(set) var notes: [WatcherID: [Note]] = [:]
    /// The countdowns that have ended.
    private(set) var endings: [KeyedCountdown] = []
    /// Watchers that are reading the state.
    private(set) var opening: [WatcherID: Opening] = [:]

    /// A watcher that is reading the state.
    struct Opening {
        let scan: ScanID
        let selection: Selection
        /// The watcher knows everything up to this revision.
        let since: Revision?
    }

    init(limits: Limits = Limits()) {
        scene = RunningTimetable(limits: limits)
    }

    var now: Now { scene.now }

    /// When the daemon has to wake up next.
    var alarm: WallInstant? {
        [scene.timetable.nextDeadline(at: now), watchers.nextTick(at: now)].compactMap(\.self).min()
    }

    // MARK: Time

    /// Takes a turn at each instant that needs one, and at the end of the span.
    func run(for span: Duration) {
        let end = now.boot + span
        while let alarm, alarm - now.wall <= end - now.boot {
            scene.pass(max(.zero, alarm - now.wall))
            turn()
        }
        sleep(for: end - now.boot)
        turn()
    }

    /// Lets time pass without a turn: the machine sleeps, or is too busy.
    func sleep(for span: Duration) {
        scene.pass(span)
    }

    /// Sets the system clock; the next turn notices.
    func setWall(by span: Duration) {
        scene.clocks.setWall(by: span)
        watchers.clockWasSet(at: now)
    }

    // MARK: A turn

    /// Takes a turn with a budget of ticks.
    @discardableResult
    func turn(_ requests: Request..., ticks limit: Int = .max) -> [Outcome] {
        turn(requests, ticks: limit)
    }

    @discardableResult
    func turn(_ requests: [Request], ticks limit: Int = .max) -> [Outcome] {
        let endings = scene.endDue()
        let outcomes = requests.map { request in
            Outcome { () throws(Refusal) in try scene.ask(request)?.change }
        }
        finish(endings + outcomes.compactMap { try? $0.get() }, ticks: limit)
        return outcomes
    }

    /// Takes a turn in which cooldowns are started together, or none.
    func turn(startingAll cooldowns: [Request.Start], dryRun: Bool) -> CooldownsOutcome? {
        let endings = scene.endDue()
        let outcome = try? scene.timetable.startAll(cooldowns, dryRun: dryRun, at: now)
        finish(endings + (outcome?.changes ?? []), ticks: .max)
        return outcome
    }

    private func finish(_ changes: [Change], ticks limit: Int) {
        for change in changes { tell(change) }
        deliverTicks(limit)
        scene.compact()
    }

    /// Takes a turn whose requests cannot be stored: they are undone, and the expiries stay.
    func turnTakenBack(_ requests: [Request]) {
        let endings = scene.endDue()
        let applied = requests.compactMap { request in try? scene.ask(request) }
        for change in applied.reversed() { scene.timetable.undo(change) }
        for change in endings { tell(change) }
        deliverTicks(.max)
        scene.compact()
    }

    private func tell(_ change: Change) {
        if !change.countdown.isLive { endings.append(change.countdown) }
        if let slot = scene.slot(under: change.countdown.key) {
            watchers.schedule(slot, scene.timetable[slot], at: now)
        }
        var subscribers: [WatcherID] = []
        watchers.forEachWatcher(of: change.countdown.key) { subscribers.append($0) }
        for id in subscribers { note(.change(change), for: id) }
    }

    private func deliverTicks(_ limit: Int) {
        var limit = limit
        var delivered: [(WatcherID, Heard)] = []
        watchers.tick(at: now, in: scene.timetable, budget: &limit) { key, remaining, subscribers in
            for id in subscribers { delivered.append((id, .tick(key, remaining: remaining))) }
        }
        for (id, heard) in delivered { note(heard, for: id) }
    }

    private func note(_ heard: Heard, for id: WatcherID) {
        notes[id, default: []].append(Note(at: now, heard: heard))
    }

    // MARK: Watchers

    /// Adds a watcher and opens it at once.
    func watch(_ number: Int, _ selection: Selection = .everything, every interval: Duration? = .seconds(1)) {
        begin(number, selection, every: interval)
        scan(number)
    }

    /// Adds a watcher that has received nothing yet, or comes back with a revision.
    func begin(
        _ number: Int,
        _ selection: Selection = .everything,
        every interval: Duration? = .seconds(1),
        since: Revision? = nil
    ) {
        leave(number)
        watchers.add(WatcherID(number), following: selection, every: interval)
        // Countdowns that it knows are visited too, to schedule their ticks.
        let scan = scene.timetable.openScan(live: .oldest, ended: .after(since ?? scene.timetable.revision))
        opening[WatcherID(number)] = Opening(scan: scan, selection: selection, since: since)
    }

    /// Continues the scan of a watcher; at the end of the scan the watcher is open.
    func scan(_ number: Int, limit: Int = .max) {
        let id = WatcherID(number)
        guard let opening = opening[id] else { return }
        var limit = limit
        var visited: [(Slot, KeyedCountdown)] = []
        let progress = scene.timetable.scan(opening.scan, budget: &limit) { timetable, slot in
            if opening.selection.contains(timetable[slot].key) { visited.append((slot, timetable[slot])) }
            return true
        }
        for (slot, countdown) in visited {
            if countdown.isLive { watchers.schedule(slot, countdown, for: id, at: now) }
            if opening.since.map({ countdown.revision > $0 }) ?? true { note(.attached(countdown), for: id) }
        }
        guard progress != .more else { return }
        scene.timetable.closeScan(opening.scan)
        self.opening[id] = nil
        if progress == .missed {
            watchers.remove(id)
            note(.missed, for: id)
        } else {
            watchers.open(id, at: now)
            note(.synced(scene.timetable.revision), for: id)
        }
    }

    func leave(_ number: Int) {
        let id = WatcherID(number)
        watchers.remove(id)
        if let opening = opening.removeValue(forKey: id) { scene.timetable.closeScan(opening.scan) }
    }

    // MARK: Received events

    func heard(by number: Int) -> [Note] { notes[WatcherID(number)] ?? [] }

    /// The ticks that a watcher received.
    func ticks(heardBy number: Int) -> [(at: Now, key: Key, remaining: Duration)] {
        heard(by: number).compactMap { note in
            guard case .tick(let key, let remaining) = note.heard else { return nil }
            return (note.at, key, remaining)
        }
    }

    func forget() {
        notes = [:]
        endings = []
    }
}
