/// All countdowns, and what may become of them.
///
/// A pure value: time comes in as an argument, what is to be done goes out. `decide` says what a request comes to and
/// changes nothing, `apply` carries it out and cannot fail, `undo` takes it back.
public struct Timetable: Sendable {
    public let policy: Policy
    /// The newest change's.
    public internal(set) var revision: Revision
    /// All endings after this one are kept; it is the oldest that a watch can be resumed from.
    public internal(set) var oldestRevision: Revision
    public internal(set) var pausedCount = 0

    var gaps: [ClosedRange<Revision>] = []
    var index = KeyIndex()
    var slab = Slab()
    var lists = Lists()
    var elapsed = IndexedHeap()
    var wall = IndexedHeap()
    var walks: [WalkID: Walk] = [:]
    var lastWalk = WalkID(number: 0)

    /// An empty timetable whose first change has the revision after the given one.
    public init(policy: Policy, revision: Revision) {
        self.policy = policy
        self.revision = revision
        oldestRevision = revision
    }

    /// Running and paused countdowns.
    public var liveCount: Int { lists[.live].count }
    public var runningCount: Int { liveCount - pausedCount }
    /// Endings that are kept.
    public var endedCount: Int { lists[.ended].count }

    /// The countdown that is known under a key.
    public func countdown(under key: Key) -> Countdown? {
        slot(under: key).map { slab[$0].countdown }
    }

    /// Where the countdown that is known under a key lies.
    public func slot(under key: Key) -> Slot? {
        index.slot(of: key, in: slab)
    }

    /// The countdown that lies there.
    public subscript(_ slot: Slot) -> Countdown {
        slab[slot].countdown
    }

    /// Whether all that has happened since a revision can be told.
    public func canResume(after revision: Revision) -> Bool {
        (oldestRevision...self.revision).contains(revision) && !gaps.contains { $0.contains(revision) }
    }

    /// The earliest deadline, as the system clock is set now; nil where nothing runs.
    public func nextDeadline(at now: Now) -> WallInstant? {
        let elapsed = elapsed.first.map { now.wall(of: BootInstant(microseconds: $0.instant)) }
        let wall = wall.first.map { WallInstant(microseconds: $0.instant) }
        guard let elapsed, let wall else { return elapsed ?? wall }
        return min(elapsed, wall)
    }

    // MARK: Upkeep of the index, the lists and the heaps

    /// Puts the deadline of an entry into its heap, or takes it out where the entry has none.
    mutating func schedule(_ slot: Slot) {
        let order = slab[slot].countdown.revision.number
        switch slab[slot].countdown.phase {
        case .running(.elapsed(let instant)):
            wall.remove(slot.index)
            elapsed.set(slot.index, at: instant.microseconds, order: order)
        case .running(.wall(let instant)):
            elapsed.remove(slot.index)
            wall.set(slot.index, at: instant.microseconds, order: order)
        case .paused, .finished, .cancelled:
            elapsed.remove(slot.index)
            wall.remove(slot.index)
        }
    }

    /// Replaces what an entry holds, with the count of the paused ones and the heaps.
    mutating func set(_ countdown: Countdown, at slot: Slot) {
        if case .paused = slab[slot].countdown.phase { pausedCount -= 1 }
        slab[slot].countdown = countdown
        if case .paused = countdown.phase { pausedCount += 1 }
        schedule(slot)
    }
}

/// The three lists through the entries: each known entry is in one of them.
struct Lists: Sendable {
    enum Name: Int, CaseIterable {
        /// Running and paused.
        case live
        /// Ended, and kept as history.
        case ended
        /// Ended, not kept: only until those who were walking when they ended have been told.
        case forgotten

        init(of countdown: Countdown) {
            self = countdown.isLive ? .live : countdown.forget ? .forgotten : .ended
        }
    }

    private var lists = [RevisionList](repeating: RevisionList(), count: Name.allCases.count)

    subscript(_ name: Name) -> RevisionList {
        get { lists[name.rawValue] }
        _modify { yield &lists[name.rawValue] }
    }
}
