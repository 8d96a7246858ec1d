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
    /// The number of its row in the store.
    var row: Int64 = 0
    /// When it is looked at to be removed, at the latest; nil if it is not.
    fileprivate var removal: WallInstant?

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
    /// An entry whose record is to be looked at at another instant is skipped.
    private var removals = KeyHeap()

    subscript(_ key: Key) -> HeldRecord? { records[key] }

    /// Sets the record under a key, in the place of the one that was known before.
    mutating func set(_ record: HeldRecord, under key: Key, instead known: HeldRecord?) {
        var record = record
        record.removal = known?.removal
        if let due = record.due { schedule(&record, key, at: due) }
        records[key] = record
    }

    /// Removes the record under a key.
    mutating func remove(_ key: Key) { records[key] = nil }

    /// Lets a record be looked at at an instant, or earlier if it has an earlier one.
    private mutating func schedule(_ record: inout HeldRecord, _ key: Key, at instant: WallInstant) {
        if let removal = record.removal, removal <= instant { return }
        record.removal = instant
        removals.insert(key, at: instant)
    }

    /// Removes records that the engine may have removed.
    ///
    /// - Parameters:
    ///   - now: the time by the engine's clock.
    ///   - budget: how many are looked at; less those afterwards.
    ///   - isKept: whether a record is needed longer.
    /// - Returns: the rows of the records that were removed.
    mutating func removeDue(at now: WallInstant, budget: inout Int, _ isKept: (Key) -> Bool) -> [Int64] {
        var removed: [Int64] = []
        while budget > 0, let entry = removals.takeDue(at: now) {
            budget -= 1
            let key = entry.key
            guard var held = records[key], held.removal == entry.instant else { continue }
            held.removal = nil
            if let due = held.due, due <= now, !isKept(key) {
                records[key] = nil
                removed.append(held.row)
                continue
            }
            if let due = held.due { schedule(&held, key, at: max(due, now + .seconds(10))) }
            records[key] = held
        }
        return removed
    }
}
