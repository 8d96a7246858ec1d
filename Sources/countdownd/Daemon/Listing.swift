import CountdownCore

/// A `List` that is being answered.
///
/// A reply holds countdowns of one moment: what was found in earlier turns is checked in the turn in which the reply is
/// written, and a countdown that changed meanwhile is met again further on.
struct Listing {
    enum Stage {
        /// Nothing was looked at yet.
        case unopened
        case walking(ScanID)
        /// The answer of this moment, which is delivered from this countdown on.
        case delivering([KeyedCountdown], next: Int, at: Now)
    }

    /// A countdown that was found and is not in a reply yet.
    struct Found {
        let slot: Slot
        let countdown: KeyedCountdown
    }

    let question: ListQuestion
    /// Whether the caller takes more than one reply.
    let takesPages: Bool
    var stage = Stage.unopened
    /// What a walk has found, in the order of revisions.
    var found: [Found] = []
    /// About as many bytes as the found countdowns take in a reply.
    var foundBytes = 0
    /// What a walk has found for `soonest`.
    var candidates: SoonestCandidates?

    init(question: ListQuestion, takesPages: Bool) {
        self.question = question
        self.takesPages = takesPages
    }

    func contains(_ countdown: KeyedCountdown) -> Bool {
        question.states.contains(ListQuestion.States(of: countdown)) && question.selection.contains(countdown.key)
    }

    mutating func find(_ countdown: KeyedCountdown, at slot: Slot) {
        found.append(Found(slot: slot, countdown: countdown))
        foundBytes += 160 + countdown.textBytes
    }
}

/// The countdowns that end first, of those that a walk has met so far.
///
/// More are kept than are asked for, since some of them may change or end before the walk is at its end. If too many do, the
/// soonest of those that were dropped may belong to the answer: then nothing can be said, and the walk has to be repeated
/// with room for more.
struct SoonestCandidates {
    struct Candidate {
        let slot: Slot
        let revision: Revision
        let isPaused: Bool
        /// In microseconds: when it ends, or ended; the remaining time of a paused one.
        let rank: Int64

        init(_ countdown: KeyedCountdown, at slot: Slot, _ now: Now) {
            self.slot = slot
            revision = countdown.revision
            switch countdown.phase {
            case .running(let deadline): (isPaused, rank) = (false, deadline.wall(at: now).microseconds)
            case .paused(let remaining): (isPaused, rank) = (true, remaining.microseconds)
            case .finished(let instant, _), .cancelled(let instant, _): (isPaused, rank) = (false, instant.microseconds)
            }
        }

        /// Whether one comes before another; of two at the same instant, the one that changed first, as it ends first.
        static func isSooner(_ left: Candidate, _ right: Candidate) -> Bool {
            guard left.isPaused == right.isPaused else { return right.isPaused }
            return left.rank == right.rank ? left.revision < right.revision : left.rank < right.rank
        }
    }

    /// The number that is asked for.
    let count: Int
    /// The number that is kept at least.
    let capacity: Int
    /// The offset of the clocks by which deadlines on both of them are compared.
    let offset: Duration
    private var candidates: [Candidate] = []
    /// The soonest candidate that was dropped because there was no room.
    private var dropped: Candidate?

    init(count: Int, capacity: Int, at now: Now) {
        self.count = count
        self.capacity = capacity
        offset = now.offset
    }

    /// A generous capacity to begin with: so many of the soonest countdowns rarely change during one walk.
    static func firstCapacity(for count: Int) -> Int { count + 256 }

    /// The bytes of as many candidates as there can be at once.
    static func bytes(capacity: Int) -> Int { 2 * capacity * MemoryLayout<Candidate>.stride }

    /// Adds a countdown that was met.
    ///
    /// - Parameters:
    ///   - candidate: the countdown.
    ///   - isUnchanged: whether the countdown of a candidate is as it was when it was met.
    mutating func append(_ candidate: Candidate, isUnchanged: (Candidate) -> Bool) {
        candidates.append(candidate)
        guard candidates.count >= 2 * capacity else { return }
        sort(isUnchanged)
        guard candidates.count > capacity else { return }
        if dropped.map({ Candidate.isSooner(candidates[capacity], $0) }) ?? true { dropped = candidates[capacity] }
        candidates.removeLast(candidates.count - capacity)
    }

    /// Picks the soonest.
    ///
    /// - Parameter isKnown: whether the countdown of a candidate is as it was when it was met, and known under its key.
    /// - Returns: their slots in their order; nil if a countdown that was dropped may belong to them.
    mutating func soonest(isKnown: (Candidate) -> Bool) -> [Slot]? {
        sort(isKnown)
        let chosen = candidates.prefix(count)
        if let dropped, let last = chosen.last, chosen.count < count || Candidate.isSooner(dropped, last) { return nil }
        if dropped != nil, chosen.isEmpty, count > 0 { return nil }
        return chosen.map(\.slot)
    }

    private mutating func sort(_ isWanted: (Candidate) -> Bool) {
        candidates.removeAll { !isWanted($0) }
        candidates.sort(by: Candidate.isSooner)
    }
}
