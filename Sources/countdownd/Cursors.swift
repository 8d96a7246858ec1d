import CountdownCore

/// A `List` that is being answered.
///
/// A reply holds countdowns of one moment: those found in earlier turns must be checked in the turn in which the reply is
/// written, and a countdown that changed meanwhile is visited again further on.
struct ListCursor {
    enum Stage {
        /// The scan has not begun.
        case unopened
        case scanning(ScanID)
        /// The answer of this moment, which is delivered from this countdown on.
        case delivering([KeyedCountdown], next: Int, at: Now)
    }

    let request: ListRequest
    /// Whether the caller takes more than one reply.
    let takesPages: Bool
    var stage = Stage.unopened
    /// The countdowns found by the scan that are not in a reply yet, in the order of revisions.
    var found: [(slot: Slot, revision: Revision)] = []
    /// About as many bytes as the found countdowns take in a reply.
    var foundBytes = 0
    /// The countdowns that the scan has found for `soonest`.
    var candidates: SoonestCandidates?

    func contains(_ countdown: KeyedCountdown) -> Bool {
        request.states.contains(countdown.phase.state) && request.selection.contains(countdown.key)
    }
}

/// The countdowns that end first, of those that the scan has visited so far.
///
/// More are kept than are asked for, since some of them may change or end before the scan is at its end. If too many do, the
/// soonest of those that were dropped may belong to the answer: then nothing can be said, and the scan has to be repeated
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
            return (left.rank, left.revision) < (right.rank, right.revision)
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

    /// The bytes of as many candidates as there can be at once.
    static func bytes(capacity: Int) -> Int { 2 * capacity * MemoryLayout<Candidate>.stride }

    /// Adds a countdown that the scan visits.
    ///
    /// - Parameters:
    ///   - candidate: the countdown.
    ///   - isUnchanged: whether the countdown of a candidate is as it was when it was visited.
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
    /// - Parameter isKnown: whether the countdown of a candidate is as it was when it was visited, and known under its key.
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

/// A `Watch` in progress: first a snapshot, then events as they happen. If the system clock is set, the live countdowns are
/// sent once more.
struct WatchCursor {
    /// Sends the countdowns that exist, or those that changed after `since`. It ends with `synced`.
    enum Snapshot {
        case pending
        case scanning(ScanID)
        case complete
    }

    /// Sends the live countdowns once more, because a set system clock has moved their deadlines or remaining time.
    enum ClockResend {
        case idle
        /// The clock was set.
        case pending
        /// Revisions after `upTo` were sent after the clock step.
        case scanning(ScanID, upTo: Revision)
    }

    let request: WatchRequest
    var snapshot = Snapshot.pending
    var clockResend = ClockResend.idle
    /// A countdown with this revision or an earlier one existed before the snapshot began.
    var base: Revision
    /// Whether countdowns up to `base` are sent although `since` is later, because the system clock was set after `since`.
    let sendsOlder: Bool

    /// Whether the watcher got `synced` and receives events as they happen.
    var isSynced: Bool { if case .complete = snapshot { true } else { false } }

    /// The scans that end with this watch.
    var scans: [ScanID] {
        var scans: [ScanID] = []
        if case .scanning(let scan) = snapshot { scans.append(scan) }
        if case .scanning(let scan, _) = clockResend { scans.append(scan) }
        return scans
    }

    /// Whether the next turn has something to send besides events.
    var needsScan: Bool { if case .idle = clockResend { !isSynced } else { true } }
}
