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
