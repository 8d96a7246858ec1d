import CountdownCore
import Fleet
import TestSupport
import Varlink

/// A host of a fleet without sockets and store: a timetable, a member, and their output.
final class FleetHost {
    /// The state that survives the death of the host, and the changes that it has announced.
    struct Stored {
        var changes: [Change] = []
        var notes: [Member.Note] = []
        var countdowns: [KeyedCountdown] = []
        var revision = Revision(0)
        var oldestRevision = Revision(0)
        var records: [Key: HeldRecord] = [:]
        var position: LogCursor.Position?
    }

    var timetable: Timetable
    var member: Member
    /// The records in the store.
    private(set) var records: [Key: HeldRecord]
    /// Every change in its order, since before the host died.
    private(set) var changes: [Change]
    /// The results of calls, with the instants at which they came.
    private(set) var results: [Int: (result: CallResult, at: Now)] = [:]
    private(set) var notes: [Member.Note]
    private(set) var opening: LogCursor.Opening?

    private static let start = Now(boot: BootInstant(microseconds: 0), offset: .zero)

    init(_ number: UInt64, start: UInt64 = 0, options: Member.Options = Member.Options(), stored: Stored = Stored()) {
        timetable = Timetable(limits: Limits(), revision: Revision(0))
        for countdown in stored.countdowns { timetable.restore(countdown) }
        _ = timetable.flush()
        timetable.resume(at: stored.revision, oldest: stored.oldestRevision, gaps: [], now: Self.start)
        (records, changes, notes) = (stored.records, stored.changes, stored.notes)
        let read = stored.read()
        member = Member(
            host: HostID(number, start),
            random: SeededGenerator(seed: number &* 1_000 &+ start),
            options: options,
            position: read == nil ? nil : stored.position,
            records: read ?? HeldRecords()
        )
        member.open(&timetable)
        opening = member.takeOutput().opening
    }

    var stored: Stored {
        var stored = Stored(changes: changes, notes: notes)
        timetable.visitAll { stored.countdowns.append($0) }
        stored.revision = timetable.revision
        stored.oldestRevision = timetable.oldestRevision
        stored.records = records
        stored.position = member.stored
        return stored
    }

    /// A turn: expires what is due, lets the body hand in the messages that have arrived, and decides.
    func turn(at now: Now, budget: Int = .max, _ body: (FleetHost) -> Void = { _ in }) {
        while let change = timetable.expireNext(at: now) { changes.append(change) }
        body(self)
        var budget = budget
        member.serve(&timetable, at: now, budget: &budget)
        let output = member.takeOutput()
        changes += output.changes
        for (number, result) in output.results { results[number] = (result, now) }
        notes += output.notes
        if let opening = output.opening { self.opening = opening }
        for change in output.records {
            switch change {
            case .set(let key, let record): records[key] = record
            case .remove(let key): records[key] = nil
            }
        }
    }

    func countdown(under key: Key) -> KeyedCountdown? { timetable.countdown(under: key) }
    func canResume(after revision: Revision) -> Bool { timetable.canResume(after: revision) }

    func receive(_ event: LogCursor.Event, at now: Now) { member.receive(event, &timetable, at: now) }

    func receive(_ answers: [Answer], to proposals: [Proposal], at now: Now) {
        member.receive(answers, to: proposals, &timetable, at: now)
    }

    func reopen() { member.open(&timetable) }

    /// Loses the store, as if its files were removed.
    func loseStore() {
        records = [:]
        member.readAgain(&timetable)
    }

    /// The stream that is to be opened; nil if the present one stays.
    func takeOpening() -> LogCursor.Opening? {
        defer { opening = nil }
        return opening
    }

    /// The live countdowns, without their revisions.
    func live(at now: Now) -> [Key: String] {
        var live: [Key: String] = [:]
        timetable.visitAll { countdown in
            guard countdown.isLive else { return }
            let end: String
            switch countdown.phase {
            case .running(let deadline): end = "until \(deadline.wall(at: now).microseconds)"
            default: end = "paused \(countdown.remaining(at: now).microseconds)"
            }
            let annotations = "\(countdown.label ?? "-") \(countdown.metadata)"
            live[countdown.key] = "\(end) \(annotations) \(countdown.started.microseconds)"
        }
        return live
    }
}

extension FleetHost.Stored {
    /// The records as a store reads what it has written; nil if one of them cannot be used, so that a snapshot is needed.
    fileprivate func read() -> HeldRecords? {
        var read = HeldRecords()
        for (key, record) in records {
            var line = JSONWriter()
            line.array { record.write(into: &$0) }
            let length = line.count
            let reading: HeldRecord.Reading? = JSONReader.read((line.bytes + [0]).span, length: length) { reader in
                guard reader.beginArrayText(), reader.nextElement() else { return nil }
                return HeldRecord.read(from: &reader)
            }
            guard case .record(let record) = reading else { return nil }
            read.set(record, under: key)
        }
        return read
    }
}
