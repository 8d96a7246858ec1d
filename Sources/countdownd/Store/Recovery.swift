import CountdownCore
import System

/// Reads a store: its contents, as of the clocks now.
struct Recovery {
    /// The contents of a store.
    struct Result: ~Copyable {
        var timetable: Timetable
        /// The newest revision when the system clock was last set; nil if that is not known.
        var stepRevision: Revision?
        /// The offset of the clocks that the last daemon held; nil if this is another boot, or the system clock was set
        /// since.
        var offset: Duration?
        /// What the store remembers besides the countdowns; nil before everything was read.
        var record: ShutdownRecord?
        /// The revision of the newest row, which is not deleted before there is a newer one.
        var newestRow = Revision(0)
        /// The revisions of rows that do not count any more.
        var deadRows: [Revision] = []
        /// Whether the last daemon stopped cleanly, according to the file as it was.
        var wasStopped = false
        /// Malformed rows, which stay in the table.
        var skipped: [SkippedRow] = []
    }

    let limits: Limits
    let now: Now
    /// The identity of this boot; empty if it is not known.
    let bootID: String
    /// Whether the daemon is a member of a fleet. The stored clock offset belongs to the engine then: setting the system
    /// clock does not change it.
    var followsEngine = false

    /// Reads everything, and only then marks the store as in use. If anything fails, nothing has changed.
    func load(from database: borrowing Database) throws(SQLiteFailure) -> Result {
        try database.inTransaction { database throws(SQLiteFailure) in
            let last = try ShutdownRecord.read(from: database)
            let isSameBoot = last?.bootID == bootID && !bootID.isEmpty
            let boots = try Boots(of: database, last: last, isSameBoot: isSameBoot, now: now)
            var result = Result(timetable: Timetable(limits: limits, revision: Revision(0)))
            let used = try readRows(into: &result, from: database, boots)
            var gaps = try RevisionGaps(of: database, skipping: &result.skipped)
            try resume(&result, after: last, &gaps, isSameBoot: isSameBoot)
            try boots.write(to: database, keeping: result.skipped.isEmpty ? used : nil)
            try gaps.write(to: database)
            let record = inUse(result, boot: boots.current)
            try record.write(to: database)
            result.record = record
            // The log of a fleet goes on from the countdowns of its member, and from no others.
            if !followsEngine || !result.skipped.isEmpty { try FleetTables.forgetPosition(in: database) }
            return result
        }
    }

    /// - Returns: the boots that rows refer to.
    private func readRows(
        into result: inout Result,
        from database: borrowing Database,
        _ boots: Boots
    ) throws(SQLiteFailure) -> Set<Int64> {
        var used: Set<Int64> = []
        // Most rows refer to the same boot as the row before.
        var last: (boot: Int64, shift: Duration?)?
        func shift(of boot: Int64) -> Duration? {
            if let last, last.boot == boot { return last.shift }
            used.insert(boot)
            let shift = boots[boot]
            last = (boot, shift)
            return shift
        }
        var (lastFirst, lastRevision) = (Int64.min, Revision(0))
        let batches = try database.prepare("SELECT first, changes FROM batch ORDER BY first")
        while try batches.step() {
            guard let first = batches.integer(0), first > lastFirst else {
                throw .corrupt("the rows of table batch are not in their order")
            }
            lastFirst = first
            let batch = RowBatch(first: first, bytes: batches.bytes(1))
            for line in batch.lines {
                let row = Row.read(line, of: batch, after: lastRevision, shift: shift)
                // A malformed row may have a lower revision than the rows before it.
                if let revision = row.revision { lastRevision = max(lastRevision, revision) }
                result.add(row)
            }
            if result.timetable.needsFlush { result.flush(at: now) }
        }
        result.flush(at: now)
        return used
    }

    /// Continues at a revision that was never given.
    private func resume(
        _ result: inout Result,
        after last: ShutdownRecord?,
        _ gaps: inout RevisionGaps,
        isSameBoot: Bool
    ) throws(SQLiteFailure) {
        let clock = Revision(max(1, min(now.wall.microseconds, Revision.latestClock)))
        guard let last else {
            guard result.newestRow.number == 0, result.skipped.isEmpty else { throw .corrupt("table daemon is empty") }
            return result.timetable.resume(at: clock, oldest: clock, gaps: [], now: now)
        }
        result.wasStopped = last.wasStopped
        var next = max(result.newestRow, last.revision)
        if !last.wasStopped { next = gaps.add(after: next, clock: clock) }
        let oldest = max(last.oldest, result.timetable.oldestRevision)
        let floor = result.skipped.map { $0.revision ?? next }.max()
        gaps.drop(upTo: oldest)
        result.timetable.resume(at: next, oldest: max(oldest, floor ?? oldest), gaps: gaps.ranges, now: now)
        let wasSet =
            !followsEngine
            && (now.offset - last.offset).microseconds.magnitude >= ClockOffset.smallestStep.microseconds.magnitude
        result.offset = isSameBoot && !wasSet ? last.offset : nil
        result.stepRevision = isSameBoot && wasSet ? next : last.stepRevision
    }

    /// The record while this daemon uses the store.
    private func inUse(_ result: borrowing Result, boot: Int64) -> ShutdownRecord {
        ShutdownRecord(
            revision: result.timetable.revision,
            oldest: result.timetable.oldestRevision,
            stepRevision: result.stepRevision,
            bootID: bootID,
            offset: result.offset ?? now.offset,
            boot: boot,
            wasStopped: false
        )
    }
}

extension Recovery.Result {
    /// Adds the contents of a row; earlier rows were added before.
    fileprivate mutating func add(_ row: Row.Content) {
        if let revision = row.revision { newestRow = max(newestRow, revision) }
        switch row {
        case .countdown(let countdown):
            timetable.restore(countdown)
        case .forgotten(let key, let revision):
            let live = timetable.dropRestored(key)
            deadRows += timetable.flush()
            if let live { deadRows.append(live) }
            deadRows.append(revision)
        case .malformed(let key, let row):
            // Whatever the row was meant to say, earlier rows of its key do not count any more.
            if let key { _ = timetable.dropRestored(key) }
            skipped.append(row)
        }
    }

    /// Puts the countdowns that were read under their keys.
    fileprivate mutating func flush(at now: Now) {
        deadRows += timetable.flush()
        // Ends that were given up but not deleted must not take memory again.
        var limit = Int.max
        deadRows += timetable.compact(at: now, budget: &limit)
    }
}

/// The row of the table `daemon`: the knowledge of the last daemon.
struct ShutdownRecord {
    var revision: Revision
    var oldest: Revision
    /// The newest revision when the system clock was last set; nil if that is not known.
    var stepRevision: Revision?
    var bootID: String
    var offset: Duration
    /// The number of its boot, to which its rows refer.
    var boot: Int64
    /// Whether the daemon stopped cleanly, so that nothing can be missing.
    var wasStopped: Bool

    private static let columns = "revision, oldest_revision, step_revision, boot_id, offset, boot, is_stopped"

    /// - Returns: nil if no daemon has used the store yet.
    /// - Throws: also if the row is malformed: all other rows depend on it.
    static func read(from database: borrowing Database) throws(SQLiteFailure) -> ShutdownRecord? {
        let strange = SQLiteFailure.corrupt("the row of table daemon is malformed")
        let row = try database.prepare("SELECT \(columns) FROM daemon")
        guard try row.step() else { return nil }
        guard let revision = row.integer(0).flatMap(Revision.init(stored:)),
            let oldest = row.integer(1).flatMap(Revision.init(stored:)),
            let bootID = row.text(3),
            let offset = row.integer(4), Row.isInRange(offset),
            let boot = row.integer(5), Row.isInRange(boot),
            let isStopped = row.integer(6)
        else { throw strange }
        let step = row.integer(2).flatMap(Revision.init(stored:))
        guard step != nil || row.isNull(2) else { throw strange }
        return ShutdownRecord(
            revision: revision,
            oldest: oldest,
            stepRevision: step,
            bootID: bootID,
            offset: Duration(microseconds: offset),
            boot: boot,
            wasStopped: isStopped != 0
        )
    }

    /// Replaces the row.
    func write(to database: borrowing Database) throws(SQLiteFailure) {
        let row = try database.prepare(
            "INSERT OR REPLACE INTO daemon (id, \(Self.columns)) VALUES (1, ?, ?, ?, ?, ?, ?, ?)"
        )
        row.bind(revision.number, at: 1)
        row.bind(oldest.number, at: 2)
        row.bind(stepRevision?.number, at: 3)
        row.bind(bootID, at: 4)
        row.bind(offset.microseconds, at: 5)
        row.bind(boot, at: 6)
        row.bind(wasStopped ? 1 : 0, at: 7)
        try row.run()
    }
}

/// The boots that the stored deadlines of elapsed countdowns refer to.
///
/// A deadline on the clock of a past boot stands for the same wall-clock time.
struct Boots {
    /// The number of this boot.
    let current: Int64
    /// For each boot, the difference between its clock and the clock of this boot.
    private let shifts: [Int64: Duration]
    /// By how much the shifts of all earlier boots change now; nil if this is the boot of the last daemon.
    private let moved: Duration?

    /// Reads the boots.
    ///
    /// - Parameters:
    ///   - database: is read, and not changed yet.
    ///   - last: the record of the last daemon; nil if there was none.
    ///   - isSameBoot: whether this is still the boot of the last daemon.
    ///   - now: for the offset of the clocks.
    /// - Throws: also if the table is malformed.
    init(
        of database: borrowing Database,
        last: ShutdownRecord?,
        isSameBoot: Bool,
        now: Now
    ) throws(SQLiteFailure) {
        let stored = try Self.read(from: database)
        guard isSameBoot, let last else {
            let moved = last.map { $0.offset - now.offset } ?? .zero
            shifts = stored.mapValues { $0 + moved }
            self.moved = moved
            current = (stored.keys.max() ?? 0) + 1
            return
        }
        guard stored[last.boot] == .zero else { throw .corrupt("table boot has no row for this boot") }
        (shifts, moved, current) = (stored, nil, last.boot)
    }

    /// Nil if the boot is not stored.
    subscript(_ boot: Int64) -> Duration? { shifts[boot] }

    /// Stores the changes.
    ///
    /// - Parameters:
    ///   - database: in which they are stored.
    ///   - used: the earlier boots that rows refer to; nil if not all of them are known.
    /// - Throws: SQLite's error.
    func write(to database: borrowing Database, keeping used: Set<Int64>?) throws(SQLiteFailure) {
        guard let moved else { return }
        for boot in shifts.keys where used?.contains(boot) == false {
            try database.execute("DELETE FROM boot WHERE id = \(boot)")
        }
        try database.execute(
            """
            UPDATE boot SET shift = shift + \(moved.microseconds);
            INSERT INTO boot VALUES (\(current), 0);
            """
        )
    }

    private static func read(from database: borrowing Database) throws(SQLiteFailure) -> [Int64: Duration] {
        let rows = try database.prepare("SELECT id, shift FROM boot")
        var shifts: [Int64: Duration] = [:]
        while try rows.step() {
            guard let id = rows.integer(0), let shift = rows.integer(1), [id, shift].allSatisfy(Row.isInRange)
            else {
                throw .corrupt("a row of table boot is malformed")
            }
            shifts[id] = Duration(microseconds: shift)
        }
        return shifts
    }
}

/// Revisions that may have been given to changes that are lost.
struct RevisionGaps {
    private(set) var ranges: [ClosedRange<Revision>] = []
    private var added: ClosedRange<Revision>?
    private var floor = Revision(0)

    /// An upper bound for the changes that a daemon published but did not store before it died.
    private static let unstoredAtMost: Int64 = 1 << 20

    /// - Parameters:
    ///   - database: in which the gaps are stored.
    ///   - skipped: receives malformed rows.
    /// - Throws: SQLite's error.
    init(of database: borrowing Database, skipping skipped: inout [SkippedRow]) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT first, last FROM gap")
        while try rows.step() {
            guard let first = rows.integer(0).flatMap(Revision.init(stored:)),
                let last = rows.integer(1).flatMap(Revision.init(stored:)), first <= last
            else {
                skipped.append(SkippedRow(row: "of table gap", fault: "its revisions are not a range", revision: nil))
                continue
            }
            ranges.append(first...last)
        }
    }

    /// Notes that a daemon died after a revision.
    ///
    /// - Parameters:
    ///   - newest: the revision. The daemon may have published later ones.
    ///   - clock: where revisions continue, unless that is too near or has passed.
    /// - Returns: the revision after which revisions continue.
    mutating func add(after newest: Revision, clock: Revision) -> Revision {
        let next = max(clock, Revision(newest.number + Self.unstoredAtMost))
        let gap = Revision(newest.number + 1)...Revision(next.number - 1)
        added = gap
        ranges.append(gap)
        return next
    }

    /// Forgets the gaps before a revision from which no client can resume any more.
    mutating func drop(upTo oldest: Revision) {
        floor = oldest
        ranges.removeAll { $0.upperBound <= oldest }
    }

    func write(to database: borrowing Database) throws(SQLiteFailure) {
        if let added {
            let (first, last) = (added.lowerBound.number, added.upperBound.number)
            try database.execute("INSERT OR REPLACE INTO gap VALUES (\(first), \(last))")
        }
        try database.execute("DELETE FROM gap WHERE last <= \(floor.number)")
    }
}

/// The identity of a boot: a time of CLOCK_BOOTTIME means something only within one.
enum BootIdentity {
    /// The identity of this boot; empty if the kernel does not tell it.
    ///
    /// In a time namespace CLOCK_BOOTTIME can have an offset, so that stored times mean something else than outside of it,
    /// although the boot is the same. So the offset is a part of the identity.
    static var current: String {
        text(
            bootID: text(of: "/proc/sys/kernel/random/boot_id"),
            timeOffsets: text(of: "/proc/self/timens_offsets")
        )
    }

    /// - Parameters:
    ///   - bootID: random(4)'s text for this boot; empty if it is not known.
    ///   - timeOffsets: time_namespaces(7)'s lines for the offsets of the clocks; empty if there are no time namespaces.
    /// - Returns: empty if the kernel's text for the boot is.
    static func text(bootID: String, timeOffsets: String) -> String {
        guard let boot = bootID.split(separator: "\n").first.map(String.init) else { return "" }
        let offset = timeOffsets.split(separator: "\n")
            .map { $0.split(separator: " ") }
            .first { $0.first == "boottime" }?
            .dropFirst()
            .joined(separator: " ")
        guard let offset, offset != "0 0" else { return boot }
        return "\(boot) with CLOCK_BOOTTIME moved by \(offset) s ns"
    }

    private static func text(of path: String) -> String { (try? StoredText.read(path)) ?? nil ?? "" }
}
