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
