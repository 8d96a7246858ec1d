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
