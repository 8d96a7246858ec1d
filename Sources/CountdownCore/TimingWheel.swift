/// The number of a pace; it is another's once nobody is left at that pace.
struct PaceID: Hashable, Sendable {
    let number: Int32

    var index: Int { Int(number) }
}

/// The intervals at which ticks are wanted, each with those who want them and its wheels.
struct Paces: Sendable {
    /// A tick that is due, at one of the paces.
    struct Due {
        let pace: PaceID
        let clock: Clock
        let tick: TickWheel.Tick
    }

    /// All who want ticks at one interval.
    private struct Pace {
        let interval: TimeSpan
        var audience = Audience()
        var members = 0
    }

    private var paces: [Pace] = []
    private var byInterval: [TimeSpan: PaceID] = [:]
    private var unused: [PaceID] = []
    private var elapsed = TickDial()
    private var wall = TickDial()
    private let mostPlaces: Int

    /// - Parameter places: how many countdowns may have on all wheels together.
    init(places: Int) {
        mostPlaces = places
    }

    /// Whether no countdown finds a place any more that has none.
    var isFull: Bool { elapsed.places + wall.places >= mostPlaces }

    var isEmpty: Bool { byInterval.isEmpty }
    var count: Int { byInterval.count }

    /// Whether anybody wants ticks at this interval.
    func has(_ interval: TimeSpan) -> Bool { byInterval[interval] != nil }

    /// Calls back with each watcher at a pace that follows a key. That it may change what it only looks at keeps it from being
    /// copied.
    mutating func forEachWatcher(at pace: PaceID, of key: Key, _ body: (WatcherID) -> Void) {
        paces[pace.index].audience.forEach(of: key, body)
    }

    /// Takes a watcher in, at a pace that begins where nobody was at it.
    mutating func insert(_ watcher: WatcherID, _ selection: Selection, every interval: TimeSpan) -> PaceID {
        let pace = byInterval[interval] ?? begin(interval)
        paces[pace.index].members += 1
        paces[pace.index].audience.insert(watcher, selection)
        return pace
    }

    /// Lets a watcher go; its pace ends where nobody else is at it.
    mutating func remove(_ watcher: WatcherID, _ selection: Selection, from pace: PaceID) {
        paces[pace.index].members -= 1
        paces[pace.index].audience.remove(watcher, selection)
        if paces[pace.index].members == 0 { end(pace) }
    }

    private mutating func begin(_ interval: TimeSpan) -> PaceID {
        let pace = unused.popLast() ?? PaceID(number: Int32(truncatingIfNeeded: paces.count))
        if pace.index == paces.count {
            paces.append(Pace(interval: interval))
        } else {
            paces[pace.index] = Pace(interval: interval)
        }
        byInterval[interval] = pace
        setWheels(of: pace)
        return pace
    }

    private mutating func end(_ pace: PaceID) {
        byInterval[paces[pace.index].interval] = nil
        unused.append(pace)
        setWheels(of: pace)
    }

    private mutating func setWheels(of pace: PaceID) {
        let wheel = TickWheel(interval: paces[pace.index].interval)
        elapsed.set(wheel, of: pace)
        wall.set(wheel, of: pace)
    }

    // MARK: Ticks

    /// Puts a countdown on the wheel of a pace, where there is room, or takes it off, where it does not run.
    mutating func board(_ slot: Slot, _ countdown: Countdown, on pace: PaceID, at now: Now) {
        guard case .running(let deadline) = countdown.phase else {
            elapsed.leave(slot, pace)
            wall.leave(slot, pace)
            return
        }
        let revision = countdown.revision
        switch deadline {
        case .elapsed(let instant):
            wall.leave(slot, pace)
            guard !isFull || elapsed.has(slot, pace) else { return }
            elapsed.board(slot, revision, deadline: instant.microseconds, on: pace, now: now.boot.microseconds)
        case .wall(let instant):
            elapsed.leave(slot, pace)
            guard !isFull || wall.has(slot, pace) else { return }
            wall.board(slot, revision, deadline: instant.microseconds, on: pace, now: now.wall.microseconds)
        }
    }

    /// When the next tick is due, as the system clock is set now; nil where nobody waits for one.
    func nextTick(at now: Now) -> WallInstant? {
        let elapsed = elapsed.next.map { now.wall(of: BootInstant(microseconds: $0)) }
        let wall = wall.next.map { WallInstant(microseconds: $0) }
        return earliest(elapsed, wall)
    }

    /// The tick that is due first; nil where none is.
    mutating func takeDue(at now: Now) -> Due? {
        guard let next = nextTick(at: now) else { return nil }
        if next.microseconds == wall.next {
            return wall.takeDue(at: now.wall.microseconds).map { Due(pace: $0.pace, clock: .wall, tick: $0.tick) }
        }
        return elapsed.takeDue(at: now.boot.microseconds).map { Due(pace: $0.pace, clock: .elapsed, tick: $0.tick) }
    }

    /// Takes a countdown off the wheel that a tick of it came from.
    mutating func drop(_ due: Due) {
        switch due.clock {
        case .elapsed: elapsed.leave(due.tick.slot, due.pace)
        case .wall: wall.leave(due.tick.slot, due.pace)
        }
    }

    /// Finds the ticks of countdowns that follow the system clock anew, after it was set.
    mutating func clockWasSet(at now: Now) {
        wall.clockWasSet(at: now.wall.microseconds)
    }
}

/// The wheels of all paces on one clock. All instants are microseconds on that clock.
///
/// The wheels stand in a heap by the next turn of theirs: so those that have nothing to tell cost nothing, however many
/// there are.
struct TickDial: Sendable {
    /// By the number of the pace.
    private var wheels: [TickWheel] = []
    private var due = IndexedHeap()
    /// How many places countdowns have on all wheels.
    private(set) var places = 0

    /// When the next tick is due; nil where there is none.
    var next: Int64? { due.first?.instant }

    /// Puts an empty wheel in the place of the one of a pace.
    mutating func set(_ wheel: TickWheel, of pace: PaceID) {
        if pace.index == wheels.count { wheels.append(wheel) } else { change(pace) { $0 = wheel } }
        schedule(pace)
    }

    /// Puts a countdown on a wheel, or at its new place there.
    mutating func board(_ slot: Slot, _ revision: Revision, deadline: Int64, on pace: PaceID, now: Int64) {
        change(pace) { $0.board(slot, revision: revision, deadline: deadline, now: now) }
        schedule(pace)
    }

    mutating func leave(_ slot: Slot, _ pace: PaceID) {
        change(pace) { $0.leave(slot) }
        schedule(pace)
    }

    func has(_ slot: Slot, _ pace: PaceID) -> Bool { wheels[pace.index].has(slot) }

    private mutating func change(_ pace: PaceID, _ body: (inout TickWheel) -> Void) {
        places -= wheels[pace.index].count
        body(&wheels[pace.index])
        places += wheels[pace.index].count
    }

    /// The next tick that is due; nil where there is none.
    mutating func takeDue(at now: Int64) -> (pace: PaceID, tick: TickWheel.Tick)? {
        guard let first = due.first else { return nil }
        let pace = PaceID(number: first.id)
        guard let tick = wheels[pace.index].takeDue(at: now) else { return nil }
        schedule(pace)
        return (pace, tick)
    }

    /// Finds the turns of all wheels anew, after the clock was set.
    mutating func clockWasSet(at now: Int64) {
        for index in wheels.indices {
            wheels[index].reschedule(at: now)
            schedule(PaceID(number: Int32(truncatingIfNeeded: index)))
        }
    }

    private mutating func schedule(_ pace: PaceID) {
        guard let next = wheels[pace.index].next else { return due.remove(pace.number) }
        // Most ticks leave their wheel's next turn where it is.
        if due.instant(of: pace.number) != next { due.set(pace.number, at: next) }
    }
}

/// The ticks of countdowns on one clock at one interval.
///
/// The ticks of a countdown lie at `deadline - k * interval`, so its place in the interval (its phase) never changes.
/// Phases are gathered in buckets of 1 ms; a bucket's turn comes once an interval, at the latest phase in it. So a tick
/// is never early and at most a bucket late, and nothing has to be sorted in again. All instants are microseconds on the
/// wheel's clock.
struct TickWheel: Sendable {
    /// What a countdown whose bucket's turn has come tells.
    struct Tick {
        let slot: Slot
        /// That of the countdown when it was put on the wheel: if it has another now, or none, it has left.
        let revision: Revision
        let instant: Int64
        /// What remained at that instant: a whole multiple of the interval.
        let remaining: TimeSpan
        /// Whether it was not told before.
        let isNew: Bool
    }

    private struct Rider {
        let slot: Slot
        /// The wheel's, when `told` was noted.
        var era: UInt32
        let revision: Revision
        let deadline: Int64
        /// The instant of the last tick, or at first that of boarding: no tick up to it is told.
        var told: Int64
    }

    private struct Bucket {
        let number: Int64
        var latestPhase: Int64
        /// When its turn comes.
        var turn = Int64.max
        var riders: [Rider] = []
        /// While the bucket is being told: the riders below this index are still to come.
        var pending = 0
        /// When telling them began.
        var begun: Int64 = 0
    }

    private static let bucketWidth: Int64 = 1_000

    private let interval: Int64
    private var buckets: [Bucket] = []
    private var unused: [Int32] = []
    private var byNumber: [Int64: Int32] = [:]
    private var places: [Slot: (bucket: Int32, index: Int)] = [:]
    private var due = IndexedHeap()
    /// How often the wheel's clock was set.
    private var era: UInt32 = 0
    /// When it was set last.
    private var eraBegan = Int64.min

    init(interval: TimeSpan) {
        self.interval = interval.microseconds
    }

    /// When the next bucket's turn comes.
    var next: Int64? { due.first?.instant }
    /// How many countdowns are on it.
    var count: Int { places.count }

    func has(_ slot: Slot) -> Bool { places[slot] != nil }

    /// Puts a countdown on the wheel, or at its new place there; nothing happens where it is there already.
    mutating func board(_ slot: Slot, revision: Revision, deadline: Int64, now: Int64) {
        if let (id, index) = places[slot] {
            guard buckets[Int(id)].riders[index].revision != revision else { return }
            leave(slot)
        }
        let phase = deadline.modulo(interval)
        let id = bucket(for: phase)
        buckets[Int(id)].latestPhase = max(buckets[Int(id)].latestPhase, phase)
        let rider = Rider(slot: slot, era: era, revision: revision, deadline: deadline, told: now)
        buckets[Int(id)].riders.append(rider)
        places[slot] = (id, buckets[Int(id)].riders.count - 1)
        // Where the turn has come already, those who were here have not had their ticks.
        if buckets[Int(id)].pending == 0, buckets[Int(id)].turn > now { schedule(id, after: now) }
    }

    mutating func leave(_ slot: Slot) {
        guard let (id, index) = places.removeValue(forKey: slot) else { return }
        let last = buckets[Int(id)].riders.removeLast()
        if index < buckets[Int(id)].riders.count {
            buckets[Int(id)].riders[index] = last
            places[last.slot] = (id, index)
        }
        buckets[Int(id)].pending = min(buckets[Int(id)].pending, buckets[Int(id)].riders.count)
        if buckets[Int(id)].riders.isEmpty { giveUp(id) }
    }

    /// The next tick of a bucket whose turn has come; nil where there is none.
    ///
    /// A rider that meanwhile took the place of one that has left may be met twice: then its tick is not new.
    mutating func takeDue(at now: Int64) -> Tick? {
        guard let first = due.first, first.instant <= now else { return nil }
        let id = Int(first.id)
        if buckets[id].pending == 0 {
            buckets[id].pending = buckets[id].riders.count
            buckets[id].begun = now
        }
        buckets[id].pending -= 1
        let tick = tell(buckets[id].pending, of: id, at: now)
        // From its beginning: where telling took longer than the interval, those who came first have another tick.
        if buckets[id].pending == 0 { schedule(first.id, after: buckets[id].begun) }
        return tick
    }

    private mutating func tell(_ index: Int, of id: Int, at now: Int64) -> Tick {
        let rider = buckets[id].riders[index]
        let remaining = rider.deadline.saturatingSubtracted(now).roundedUp(to: interval)
        let instant = rider.deadline.saturatingSubtracted(remaining)
        // What was told before the clock was set says nothing of what is still to be told.
        let told = rider.era == era ? rider.told : eraBegan
        buckets[id].riders[index].told = max(told, instant)
        buckets[id].riders[index].era = era
        return Tick(
            slot: rider.slot,
            revision: rider.revision,
            instant: instant,
            remaining: TimeSpan(microseconds: remaining),
            isNew: instant > told
        )
    }

    /// Finds the turns of all buckets anew, after the wheel's clock was set.
    mutating func reschedule(at now: Int64) {
        era &+= 1
        eraBegan = now
        for id in byNumber.values {
            buckets[Int(id)].pending = 0
            schedule(id, after: now)
        }
    }

    private mutating func bucket(for phase: Int64) -> Int32 {
        let number = phase / Self.bucketWidth
        if let id = byNumber[number] { return id }
        let bucket = Bucket(number: number, latestPhase: phase)
        let id: Int32
        if let free = unused.popLast() {
            id = free
            buckets[Int(id)] = bucket
        } else {
            id = Int32(truncatingIfNeeded: buckets.count)
            buckets.append(bucket)
        }
        byNumber[number] = id
        return id
    }

    private mutating func giveUp(_ id: Int32) {
        byNumber[buckets[Int(id)].number] = nil
        due.remove(id)
        unused.append(id)
    }

    private mutating func schedule(_ id: Int32, after now: Int64) {
        let sinceLast = now.saturatingSubtracted(buckets[Int(id)].latestPhase).modulo(interval)
        buckets[Int(id)].turn = now.saturatingAdded(interval - sinceLast)
        due.set(id, at: buckets[Int(id)].turn)
    }
}

extension Int64 {
    /// The remainder of a division by a positive number, never negative.
    func modulo(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    /// The least multiple of a positive step that is not below this.
    func roundedUp(to step: Int64) -> Int64 {
        let over = modulo(step)
        return over == 0 ? self : saturatingAdded(step - over)
    }
}
