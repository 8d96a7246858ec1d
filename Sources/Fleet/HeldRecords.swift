import CountdownCore

/// What a host knows of a record beyond the countdown in its timetable.
struct HeldRecord: Equatable, Sendable {
    /// The place of its last change in the log.
    let version: Version
    /// The proposal that made it, which the next proposal names.
    let id: ProposalID
    /// The proposal that started the countdown.
    let run: ProposalID
    /// The deadline, or when a request ended it; nil while it is paused.
    let end: WallInstant?
    /// Whether a request has ended it.
    let hasEnded: Bool
    /// When the engine may remove it; nil while it is paused.
    let due: WallInstant?
    /// The members that this version does not know.
    let unknown: [Record.Member]
    /// Why the record cannot be used; nil if it can.
    let fault: RecordFault?
    /// The snapshot in which it was seen last.
    var snapshot = 0

    init(_ entry: LogEntry, _ record: Record, snapshot: Int) {
        version = entry.version
        id = entry.id
        run = record.run ?? entry.id
        (end, hasEnded, due) = (record.end, record.hasEnded, record.due)
        unknown = record.unknown
        fault = nil
        self.snapshot = snapshot
    }

    /// A record that cannot be used, in the place of the one that was known before.
    init(_ entry: LogEntry, _ fault: RecordFault, instead known: HeldRecord?, snapshot: Int) {
        version = entry.version
        id = entry.id
        run = known?.run ?? entry.id
        (end, hasEnded, due) = (nil, false, nil)
        unknown = []
        self.fault = fault
        self.snapshot = snapshot
    }

    func basis(at now: WallInstant) -> Basis { Basis(end: end, hasEnded: hasEnded, at: now) }
}

/// The records that a host knows, until the engine may have removed them.
struct HeldRecords: Sendable {
    private var records = PartitionedDictionary<HeldRecord>()
    private var removals = WakeUps()

    subscript(_ key: Key) -> HeldRecord? {
        get { records[key] }
        set {
            records[key] = newValue
            if let due = newValue?.due { removals.set(due, for: key) }
        }
    }

    /// Removes records that the engine may have removed.
    ///
    /// - Parameters:
    ///   - now: the time by the engine's clock.
    ///   - budget: how many are looked at; less those afterwards.
    ///   - isKept: whether a record is needed longer.
    /// - Returns: the entries that were removed, without their records.
    mutating func removeDue(at now: WallInstant, budget: inout Int, _ isKept: (Key) -> Bool) -> [LogEntry] {
        var removed: [LogEntry] = []
        while budget > 0, let key = removals.takeDue(at: now) {
            budget -= 1
            guard let held = records[key], let due = held.due else { continue }
            if due > now {
                removals.set(due, for: key)
            } else if isKept(key) {
                removals.set(now + .seconds(10), for: key)
            } else {
                records[key] = nil
                removed.append(LogEntry(key: key, version: held.version, id: held.id, record: nil))
            }
        }
        return removed
    }
}

/// Keys with the instants at which each has to be looked at. Looking at one too early does no harm, so an instant that is put
/// off costs nothing.
struct WakeUps: Sendable {
    private struct Entry: Sendable {
        let instant: WallInstant
        let key: Key
    }

    /// The first instant of each key.
    private var instants = PartitionedDictionary<WallInstant>()
    /// A binary heap. An entry whose key has another instant is skipped.
    private var heap: [Entry] = []

    /// The first instant.
    var next: WallInstant? { heap.first?.instant }

    /// Lets a key be taken at an instant, or earlier if it has an earlier one.
    mutating func set(_ instant: WallInstant, for key: Key) {
        if let known = instants[key], known <= instant { return }
        instants[key] = instant
        heap.append(Entry(instant: instant, key: key))
        var index = heap.count - 1
        while index > 0, heap[index].instant < heap[(index - 1) / 2].instant {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the key with the first instant, if that has come.
    mutating func takeDue(at now: WallInstant) -> Key? {
        while let first = heap.first, first.instant <= now {
            removeFirst()
            guard instants[first.key] == first.instant else { continue }
            instants[first.key] = nil
            return first.key
        }
        return nil
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, heap[child + 1].instant < heap[child].instant { child += 1 }
            guard heap[child].instant < heap[index].instant else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
