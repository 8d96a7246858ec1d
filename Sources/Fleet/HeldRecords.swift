import CountdownCore

/// The fields of a record that the host knows, besides its countdown in the timetable. A host may have millions, so it is small.
struct HeldRecord: Sendable {
    /// The place of its last change in the log.
    let version: LogVersion
    /// The proposal that made it, which the next proposal names.
    let id: ProposalID
    /// The number of its row in the store.
    var row: Int64 = 0
    /// The snapshot in which it was seen last.
    var snapshot: Int
    /// The deadline, or when a request ended it; nil while it is paused.
    let end: WallInstant?
    /// Whether a request has ended it.
    let hasEnded: Bool
    /// Whether its end is not kept.
    private let forget: Bool
    /// Nil if the record has none of these fields.
    private let cold: ColdFields?

    /// Fields that only some records have.
    private final class ColdFields: Sendable {
        let run: ProposalID
        let unknown: [Record.UnknownMember]
        let fault: RecordFault?

        init(run: ProposalID, unknown: [Record.UnknownMember] = [], fault: RecordFault? = nil) {
            (self.run, self.unknown, self.fault) = (run, unknown, fault)
        }
    }

    init(_ entry: LogEntry, _ record: Record, snapshot: Int) {
        version = entry.version
        id = entry.id
        self.snapshot = snapshot
        (end, hasEnded, forget) = (record.end, record.hasEnded, record.forget)
        let run = record.run ?? entry.id
        cold = run == id && record.unknown.isEmpty ? nil : ColdFields(run: run, unknown: record.unknown)
    }

    /// A record that cannot be used, in the place of the one that was known before.
    init(_ entry: LogEntry, _ fault: RecordFault, instead known: HeldRecord?, snapshot: Int) {
        version = entry.version
        id = entry.id
        self.snapshot = snapshot
        (end, hasEnded, forget) = (nil, false, false)
        cold = ColdFields(run: known?.run ?? entry.id, fault: fault)
    }

    /// The proposal that started the countdown.
    var run: ProposalID { cold?.run ?? id }
    /// The members that this version does not know.
    var unknown: [Record.UnknownMember] { cold?.unknown ?? [] }
    /// Why the record cannot be used; nil if it can.
    var fault: RecordFault? { cold?.fault }
    /// When the engine may remove it; nil while it is paused.
    var due: WallInstant? { end.map { Record.due(endingAt: $0, forget: forget) } }

    func basis(at now: WallInstant) -> Basis { Basis(end: end, hasEnded: hasEnded, at: now) }
}

/// The records that a host knows, until the engine may have removed them.
struct HeldRecords: Sendable {
    private var records = PartitionedDictionary<HeldRecord>()
    /// The slots of records that the engine may remove, by when it may, or by when they are looked at again.
    private var removals = IndexedHeap()

    subscript(_ key: Key) -> HeldRecord? { records[key] }

    /// Sets the record under a key.
    mutating func set(_ record: HeldRecord, under key: Key) {
        let slot = records.set(record, under: key)
        if let due = record.due {
            removals.set(slot.index, at: due.microseconds)
        } else {
            removals.remove(slot.index)
        }
    }

    /// Removes the record under a key.
    mutating func remove(_ key: Key) {
        if let slot = records.remove(key) { removals.remove(slot.index) }
    }

    /// Removes records that the engine may have removed.
    ///
    /// - Parameters:
    ///   - now: the time by the engine's clock.
    ///   - budget: how many records to look at; less those afterwards.
    ///   - isKept: whether a record is needed longer.
    /// - Returns: the rows of the records that were removed.
    mutating func removeDue(at now: WallInstant, budget: inout Int, _ isKept: (Key) -> Bool) -> [Int64] {
        var removed: [Int64] = []
        while budget > 0, let first = removals.first, first.instant <= now.microseconds,
            let entry = records[Slot(index: first.id)]
        {
            budget -= 1
            if isKept(entry.key) {
                removals.set(first.id, at: (now + .seconds(10)).microseconds)
            } else {
                remove(entry.key)
                removed.append(entry.value.row)
            }
        }
        return removed
    }
}
