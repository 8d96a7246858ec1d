public import CountdownCore
public import Varlink

/// The fields of a record that the host knows, besides its countdown in the timetable. A host may have millions, so it is small.
public struct HeldRecord: Equatable, Sendable {
    /// The place of its last change in the log.
    let version: LogVersion
    /// The proposal that made it, which the next proposal names.
    let id: ProposalID
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
    private final class ColdFields: Equatable, Sendable {
        let run: ProposalID
        let unknown: [Record.UnknownMember]
        let fault: RecordFault?

        init(run: ProposalID, unknown: [Record.UnknownMember] = [], fault: RecordFault? = nil) {
            (self.run, self.unknown, self.fault) = (run, unknown, fault)
        }

        static func == (left: ColdFields, right: ColdFields) -> Bool {
            left.run == right.run && left.unknown == right.unknown && left.fault == right.fault
        }
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

extension HeldRecord {
    init(_ entry: LogEntry, _ record: Record, snapshot: Int) {
        version = entry.version
        id = entry.id
        self.snapshot = snapshot
        (end, hasEnded, forget) = (record.end, record.hasEnded, record.countdown.forget)
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
}

/// A record in the store: the elements of an array behind its key, which are its version, its ID and, if it can be used, its end in
/// microseconds, whether a request has ended it, whether its end is not kept, its run, and its unknown members as an object of texts.
extension HeldRecord {
    /// The outcome of reading a record.
    public enum Reading: Sendable {
        /// The record.
        case record(HeldRecord)
        /// It could not be used when it was stored; a newer version may be able to.
        case unusable
    }

    /// Writes the elements.
    public func write(into line: inout JSONWriter) {
        line.element(version.number)
        line.element(id.text)
        guard fault == nil else { return }
        if let end { line.element(end.microseconds) } else { line.elementNull() }
        line.element(hasEnded)
        line.element(forget)
        guard cold != nil else { return }
        line.element(run.text)
        line.object { members in
            for member in unknown { members.member(named: member.name, String(decoding: member.value, as: UTF8.self)) }
        }
    }

    /// Reads the elements, the first of which is next, and the end of their array; nil if they are not those of a record.
    public static func read(from reader: inout JSONReader) -> Reading? {
        guard let version = reader.integer(), reader.nextElement(), let id = reader.string().flatMap({ ProposalID($0) })
        else { return nil }
        guard reader.nextElement() else { return .unusable }
        guard let end = try? Int64?.read(from: &reader), reader.nextElement(), let hasEnded = reader.boolean(),
            reader.nextElement(), let forget = reader.boolean()
        else { return nil }
        var cold: ColdFields?
        if reader.nextElement() {
            guard let run = reader.string().flatMap({ ProposalID($0) }), reader.nextElement(),
                let unknown = readUnknown(&reader), !reader.nextElement()
            else { return nil }
            cold = ColdFields(run: run, unknown: unknown)
        }
        return .record(
            HeldRecord(
                version: LogVersion(version),
                id: id,
                snapshot: 0,
                end: end.map(WallInstant.init),
                hasEnded: hasEnded,
                forget: forget,
                cold: cold
            )
        )
    }

    private static func readUnknown(_ reader: inout JSONReader) -> [Record.UnknownMember]? {
        guard reader.beginObject() else { return nil }
        var unknown: [Record.UnknownMember] = []
        while reader.nextMember() {
            let name = reader.memberName
            guard let value = reader.utf8() else { return nil }
            unknown.append(Record.UnknownMember(name: name, value: value))
        }
        return unknown
    }
}

/// The records that a host knows, until the engine may have removed them.
public struct HeldRecords: Sendable {
    private var records = PartitionedDictionary<HeldRecord>()
    /// The slots of records that the engine may remove, by when it may, or by when they are looked at again.
    private var removals = IndexedHeap()

    /// Knows no record.
    public init() {}

    /// The record under a key; nil if none is known.
    subscript(_ key: Key) -> HeldRecord? { records[key] }

    /// How many records are known.
    public var count: Int { records.count }

    /// Visits some of the records, in an order that does not change while they are in memory.
    ///
    /// - Parameters:
    ///   - place: where to begin: 0 for the first one; where to go on afterwards.
    ///   - budget: how many places to look at; less those afterwards.
    ///   - visit: gets each record.
    /// - Returns: whether there are more.
    public func visit(from place: inout Int, budget: inout Int, _ visit: (Key, HeldRecord) -> Void) -> Bool {
        while budget > 0, place < records.places {
            if let entry = records[Slot(index: Int32(place))] { visit(entry.key, entry.value) }
            place += 1
            budget -= 1
        }
        return place < records.places
    }

    /// Sets the record under a key.
    public mutating func set(_ record: HeldRecord, under key: Key) {
        let slot = records.set(record, under: key)
        if let due = record.due {
            removals.set(slot.index, at: due.microseconds)
        } else {
            removals.remove(slot.index)
        }
    }

    /// Removes the record under a key.
    public mutating func remove(_ key: Key) {
        if let slot = records.remove(key) { removals.remove(slot.index) }
    }

    /// Removes records that the engine may have removed.
    ///
    /// - Parameters:
    ///   - now: the time by the engine's clock.
    ///   - budget: how many records to look at; less those afterwards.
    ///   - isKept: whether a record is needed longer.
    /// - Returns: the keys of the records that were removed.
    mutating func removeDue(at now: WallInstant, budget: inout Int, _ isKept: (Key) -> Bool) -> [Key] {
        var removed: [Key] = []
        while budget > 0, let first = removals.first, first.instant <= now.microseconds,
            let entry = records[Slot(index: first.id)]
        {
            budget -= 1
            if isKept(entry.key) {
                removals.set(first.id, at: (now + .seconds(10)).microseconds)
            } else {
                remove(entry.key)
                removed.append(entry.key)
            }
        }
        return removed
    }
}
