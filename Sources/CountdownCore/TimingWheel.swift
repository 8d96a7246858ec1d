/// The ticks of all countdowns: a timing wheel for each interval on each clock.
struct TickSchedule: ~Copyable, Sendable {
    /// A tick that is due.
    struct DueTick {
        let interval: IntervalID
        let clock: DeadlineClock
        let tick: TimingWheel.WheelTick
    }

    /// The watchers that want ticks at one interval.
    private struct TickInterval {
        let duration: Duration
        var subscribers = Subscribers()
        /// The number of watchers; if it is 0, the place in `intervals` is free.
        var count = 0
    }

    /// As few as `Limits.tickIntervals`.
    private var intervals: [TickInterval] = []
    /// The number of different intervals.
    private(set) var count = 0
    private var elapsed = TimingWheels(clock: .elapsed)
    private var wall = TimingWheels(clock: .wall)
    private let capacity: Int

    /// - Parameter capacity: the number of entries that all wheels together may have.
    init(capacity: Int) { self.capacity = capacity }

    /// Whether no further entry fits; countdowns that are on a wheel already can still be rescheduled.
    var isFull: Bool { elapsed.count + wall.count >= capacity }

    var isEmpty: Bool { count == 0 }

    /// The number of an interval; nil if no watcher wants ticks at it.
    func id(of duration: Duration) -> IntervalID? {
        intervals.firstIndex { $0.count > 0 && $0.duration == duration }.map(IntervalID.init)
    }

    /// Calls back with each watcher at an interval that follows a key.
    ///
    /// It changes nothing. The element is passed `inout`, because the compiler copies an element that is only borrowed.
    mutating func forEachWatcher(at interval: IntervalID, of key: Key, _ body: (WatcherID) -> Void) {
        func visit(_ subscribers: inout Subscribers) { subscribers.forEach(of: key, body) }
        visit(&intervals[interval.index].subscribers)
    }

    /// Adds a watcher; the first watcher at an interval creates its wheels.
    mutating func insert(_ watcher: WatcherID, _ selection: Selection, every duration: Duration) -> IntervalID {
        let id = id(of: duration) ?? create(duration)
        intervals[id.index].count += 1
        intervals[id.index].subscribers.insert(watcher, selection)
        return id
    }

    /// Removes a watcher; the wheels of an interval go with its last watcher.
    mutating func remove(_ watcher: WatcherID, _ selection: Selection, from interval: IntervalID) {
        intervals[interval.index].count -= 1
        intervals[interval.index].subscribers.remove(watcher, selection)
        guard intervals[interval.index].count == 0 else { return }
        count -= 1
        resetWheels(of: interval)
    }

    private mutating func create(_ duration: Duration) -> IntervalID {
        let id = IntervalID(index: intervals.firstIndex { $0.count == 0 } ?? intervals.count)
        let interval = TickInterval(duration: duration)
        if id.index == intervals.count { intervals.append(interval) } else { intervals[id.index] = interval }
        count += 1
        resetWheels(of: id)
        return id
    }

    private mutating func resetWheels(of interval: IntervalID) {
        let wheel = TimingWheel(interval: intervals[interval.index].duration)
        elapsed.set(wheel, of: interval)
        wall.set(wheel, of: interval)
    }

    // MARK: Ticks

    /// Puts a countdown on the wheel of an interval if there is room; a countdown that is not running is taken off.
    mutating func schedule(_ slot: Slot, _ countdown: KeyedCountdown, at interval: IntervalID, now: Now) {
        guard case .running(let deadline) = countdown.phase else {
            elapsed.cancel(slot, at: interval)
            wall.cancel(slot, at: interval)
            return
        }
        guard !isFull || elapsed.has(slot, at: interval) || wall.has(slot, at: interval) else { return }
        let revision = countdown.revision
        switch deadline {
        case .elapsed(let instant):
            wall.cancel(slot, at: interval)
            elapsed.schedule(slot, revision, deadline: instant.microseconds, at: interval, now: now.boot.microseconds)
        case .wall(let instant):
            elapsed.cancel(slot, at: interval)
            wall.schedule(slot, revision, deadline: instant.microseconds, at: interval, now: now.wall.microseconds)
        }
    }

    /// When the next tick is due, as the system clock is set now; nil if no wheel has an entry.
    func nextTick(at now: Now) -> WallInstant? {
        let elapsed = elapsed.next.map { now.wall(of: BootInstant(microseconds: $0)) }
        let wall = wall.next.map { WallInstant(microseconds: $0) }
        return earliest(elapsed, wall)
    }

    /// Removes the first tick that is due; nil if none is.
    mutating func popDue(at now: Now) -> DueTick? {
        guard let next = nextTick(at: now) else { return nil }
        return next.microseconds == wall.next
            ? wall.popDue(at: now.wall.microseconds) : elapsed.popDue(at: now.boot.microseconds)
    }

    /// Takes the countdown of a tick off the wheel from which the tick came.
    mutating func cancel(_ due: DueTick) {
        switch due.clock {
        case .elapsed: elapsed.cancel(due.tick.slot, at: due.interval)
        case .wall: wall.cancel(due.tick.slot, at: due.interval)
        }
    }

    /// Reschedules the countdowns that follow the system clock, after it was set.
    mutating func clockWasSet(at now: Now) { wall.clockWasSet(at: now.wall.microseconds) }
}

/// The number of a tick interval; it is used again after the last watcher at that interval has left.
struct IntervalID: Hashable, Sendable {
    let index: Int

    /// Its number in a heap.
    var number: Int32 { Int32(truncatingIfNeeded: index) }
}

/// The wheels of all intervals on one clock. Instants are microseconds on that clock.
///
/// A heap orders the wheels by their next tick, so wheels without a due tick cost nothing.
struct TimingWheels: Sendable {
    let clock: DeadlineClock
    /// By the number of the interval.
    private var wheels: [TimingWheel] = []
    private var due = IndexedHeap()
    /// The number of entries on all wheels.
    private(set) var count = 0

    init(clock: DeadlineClock) { self.clock = clock }

    /// When the next tick is due; nil if the wheel is empty.
    var next: Int64? { due.first?.instant }

    /// Replaces the wheel of an interval with an empty one.
    mutating func set(_ wheel: TimingWheel, of interval: IntervalID) {
        if interval.index == wheels.count { wheels.append(wheel) } else { change(interval) { $0 = wheel } }
        updateNext(of: interval)
    }

    /// Puts a countdown on a wheel, or moves it there.
    mutating func schedule(_ slot: Slot, _ revision: Revision, deadline: Int64, at interval: IntervalID, now: Int64) {
        change(interval) { $0.schedule(slot, revision: revision, deadline: deadline, now: now) }
        updateNext(of: interval)
    }

    mutating func cancel(_ slot: Slot, at interval: IntervalID) {
        change(interval) { $0.cancel(slot) }
        updateNext(of: interval)
    }

    func has(_ slot: Slot, at interval: IntervalID) -> Bool { wheels[interval.index].has(slot) }

    private mutating func change(_ interval: IntervalID, _ body: (inout TimingWheel) -> Void) {
        count -= wheels[interval.index].count
        body(&wheels[interval.index])
        count += wheels[interval.index].count
    }

    /// Removes the next tick that is due; nil if no tick is due.
    mutating func popDue(at now: Int64) -> TickSchedule.DueTick? {
        guard let first = due.first else { return nil }
        let interval = IntervalID(index: Int(first.id))
        guard let tick = wheels[interval.index].popDue(at: now) else { return nil }
        updateNext(of: interval)
        return TickSchedule.DueTick(interval: interval, clock: clock, tick: tick)
    }

    /// Reschedules all wheels, after the clock was set.
    mutating func clockWasSet(at now: Int64) {
        for index in wheels.indices {
            wheels[index].reschedule(at: now)
            updateNext(of: IntervalID(index: index))
        }
    }

    private mutating func updateNext(of interval: IntervalID) {
        guard let next = wheels[interval.index].next else { return due.remove(interval.number) }
        // Most ticks leave the next instant of their wheel as it is.
        if due.instant(of: interval.number) != next { due.set(interval.number, at: next) }
    }
}

/// The ticks of countdowns on one clock at one interval.
///
/// The ticks of a countdown are at `deadline - k * interval`, so its phase, the remainder of its deadline by the interval,
/// never changes. A bucket holds the countdowns whose phases are in the same millisecond. It is due once an interval, at the
/// latest phase of its entries: a tick is never early, is at most 1 ms late, and needs no sorting. With a heap in its place, a
/// tick takes twice as long (docs/decisions/0009). Instants are microseconds on the clock of the wheel.
struct TimingWheel: Sendable {
    struct WheelTick {
        let slot: Slot
        /// The revision of the countdown when it was scheduled. If the slot has another one now, the countdown is gone.
        let revision: Revision
        let instant: Int64
        /// The remaining time at that instant: a whole multiple of the interval.
        let remaining: Duration
        /// False if this tick was returned before.
        let isNew: Bool
    }

    private struct WheelEntry {
        let slot: Slot
        /// The generation of the wheel when `last` was noted.
        var generation: UInt32
        let revision: Revision
        let deadline: Int64
        /// The instant of the last tick, at first the instant of scheduling; no tick up to it is new.
        var last: Int64

        mutating func tick(at now: Int64, every interval: Int64, in current: Generation) -> WheelTick {
            let remaining = deadline.saturatingSubtracted(now).roundedUp(to: interval)
            let instant = deadline.saturatingSubtracted(remaining)
            // Ticks from before the clock was set say nothing about the ticks that are still to come.
            let before = generation == current.number ? last : current.began
            (last, generation) = (max(before, instant), current.number)
            return WheelTick(
                slot: slot,
                revision: revision,
                instant: instant,
                remaining: Duration(microseconds: remaining),
                isNew: instant > before
            )
        }
    }

    /// How often the clock of the wheel was set, and when it was set last.
    private struct Generation {
        var number: UInt32 = 0
        var began = Int64.min
    }

    private struct Bucket {
        let number: Int64
        var latestPhase: Int64
        var entries: [WheelEntry] = []
        /// While the ticks of the bucket are returned: the entries below this index are still to come.
        var pending = 0
        /// When returning them began.
        var begun: Int64 = 0

        mutating func nextTick(at now: Int64, every interval: Int64, in generation: Generation) -> WheelTick {
            if pending == 0 { (pending, begun) = (entries.count, now) }
            pending -= 1
            return entries[pending].tick(at: now, every: interval, in: generation)
        }
    }

    private static let bucketWidth: Int64 = 1_000

    private let interval: Int64
    private var buckets = Pool<Bucket>()
    private var idByNumber: [Int64: Int32] = [:]
    private var places: [Slot: (bucket: Int32, index: Int)] = [:]
    private var due = IndexedHeap()
    private var generation = Generation()

    init(interval: Duration) { self.interval = interval.microseconds }

    /// When the next bucket is due.
    var next: Int64? { due.first?.instant }
    var count: Int { places.count }

    func has(_ slot: Slot) -> Bool { places[slot] != nil }

    /// Puts a countdown on the wheel, or moves it to its new phase; nothing happens if this revision is there already.
    mutating func schedule(_ slot: Slot, revision: Revision, deadline: Int64, now: Int64) {
        if let (id, index) = places[slot] {
            guard buckets[id].entries[index].revision != revision else { return }
            cancel(slot)
        }
        let phase = deadline.modulo(interval)
        let id = bucket(for: phase)
        buckets[id].latestPhase = max(buckets[id].latestPhase, phase)
        buckets[id].entries.append(
            WheelEntry(slot: slot, generation: generation.number, revision: revision, deadline: deadline, last: now)
        )
        places[slot] = (id, buckets[id].entries.count - 1)
        // If the bucket is due already, its other entries have yet to get their ticks.
        if buckets[id].pending == 0, due.instant(of: id) ?? .max > now { setDue(id, after: now) }
    }

    mutating func cancel(_ slot: Slot) {
        guard let (id, index) = places.removeValue(forKey: slot) else { return }
        let last = buckets[id].entries.removeLast()
        if index < buckets[id].entries.count {
            buckets[id].entries[index] = last
            places[last.slot] = (id, index)
        }
        buckets[id].pending = min(buckets[id].pending, buckets[id].entries.count)
        guard buckets[id].entries.isEmpty else { return }
        idByNumber[buckets[id].number] = nil
        due.remove(id)
        buckets.free(id, leaving: Bucket(number: 0, latestPhase: 0))
    }

    /// Removes the next tick of a bucket that is due; nil if no tick of the bucket is due.
    ///
    /// An entry that moved into the place of a cancelled one may be returned twice; then its tick is not new.
    mutating func popDue(at now: Int64) -> WheelTick? {
        guard let (instant, id) = due.first, instant <= now else { return nil }
        let tick = buckets[id].nextTick(at: now, every: interval, in: generation)
        // If returning all took longer than the interval, the first entries have another tick: so count from the beginning.
        if buckets[id].pending == 0 { setDue(id, after: buckets[id].begun) }
        return tick
    }

    /// Computes when each bucket is due, after the clock of the wheel was set.
    mutating func reschedule(at now: Int64) {
        generation = Generation(number: generation.number &+ 1, began: now)
        for id in idByNumber.values {
            buckets[id].pending = 0
            setDue(id, after: now)
        }
    }

    private mutating func bucket(for phase: Int64) -> Int32 {
        let number = phase / Self.bucketWidth
        if let id = idByNumber[number] { return id }
        let id = buckets.insert(Bucket(number: number, latestPhase: phase))
        idByNumber[number] = id
        return id
    }

    private mutating func setDue(_ id: Int32, after now: Int64) {
        let sinceLast = now.saturatingSubtracted(buckets[id].latestPhase).modulo(interval)
        due.set(id, at: now.saturatingAdded(interval - sinceLast))
    }
}

extension Int64 {
    /// The remainder of a division by a positive number, never negative.
    func modulo(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    /// The least multiple of a positive step that is not below this number.
    func roundedUp(to step: Int64) -> Int64 {
        let over = modulo(step)
        return over == 0 ? self : saturatingAdded(step - over)
    }
}
