import CSQLite
import CountdownCore

/// Reads a store: what it held, as the clocks are now.
struct Loading {
    /// What was read.
    struct Result {
        var timetable: Timetable
        /// The newest revision when the system clock was set last, nil where that is not known to have happened.
        var stepRevision: Revision?
        /// The offset of the clocks as the last daemon held it, nil where this is another boot or it was set since.
        var offset: TimeSpan?
        /// The epoch for the rows that are added.
        var epoch: Int64 = 1
        /// That of the newest row; it is not deleted before there is a newer one.
        var newestRow = Revision(0)
        /// Rows that count no more.
        var superseded: [Revision] = []
    }

    /// What the last daemon knew.
    private struct LastDaemon {
        let revision: Revision
        let oldest: Revision
        let stepRevision: Revision?
        let boot: String
        let offset: TimeSpan
        let epoch: Int64
        let wasStopped: Bool
    }

    /// A daemon that died may have told changes that were not stored. It cannot have told so many.
    private static let unstoredAtMost: Int64 = 1 << 20

    let policy: Policy
    let now: Now
    /// The identity of this boot.
    let boot: String

    /// Reads all, and marks the store as one that is in use; where that fails, nothing has changed.
    func load(from database: borrowing Database) throws(SQLiteFailure) -> Result {
        try database.execute("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            let last = try lastDaemon(in: database)
            var result = Result(timetable: Timetable(policy: policy, revision: Revision(0)))
            result.epoch = try beginEpoch(after: last, in: database)
            try readRows(into: &result, from: database)
            let newest = max(result.newestRow, last?.revision ?? result.newestRow)
            try goOn(&result, after: last, newest: newest, in: database)
            try markInUse(result, in: database)
            try database.execute("COMMIT")
            return result
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    private func lastDaemon(in database: borrowing Database) throws(SQLiteFailure) -> LastDaemon? {
        let row = try database.prepare(
            "SELECT revision, oldest_revision, step_revision, boot, offset, epoch, is_stopped FROM daemon"
        )
        guard try row.step() else { return nil }
        let step = row.integer(2)
        guard let boot = row.text(3), [0, 1].allSatisfy({ Row.isPossible(row.integer($0)) }) else {
            throw .impossible(row: "of table daemon")
        }
        return LastDaemon(
            revision: Revision(row.integer(0)),
            oldest: Revision(row.integer(1)),
            stepRevision: step == 0 ? nil : Revision(step),
            boot: boot,
            offset: TimeSpan(microseconds: row.integer(4)),
            epoch: row.integer(5),
            wasStopped: row.integer(6) != 0
        )
    }

    /// Moves the instants of earlier boots onto this one's clock, where this is another.
    ///
    /// An instant on the clock of a boot that is over is the wall-clock time that it would have had there.
    /// - Returns: the epoch of the instants of this boot.
    private func beginEpoch(after last: LastDaemon?, in database: borrowing Database) throws(SQLiteFailure) -> Int64 {
        if let last, last.boot == boot { return last.epoch }
        if let last {
            try database.execute("UPDATE epoch SET shift = shift + \((last.offset - now.offset).microseconds)")
            try database.execute(
                "DELETE FROM epoch WHERE id NOT IN (SELECT epoch FROM countdown WHERE state = 0 AND clock = 0)"
            )
        }
        let epoch = (try database.integer("SELECT max(id) FROM epoch") ?? 0) + 1
        try database.execute("INSERT INTO epoch VALUES (\(epoch), 0)")
        return epoch
    }

    private func readRows(into result: inout Result, from database: borrowing Database) throws(SQLiteFailure) {
        let shifts = try self.shifts(in: database)
        let rows = try database.prepare("SELECT \(Row.columns) FROM countdown ORDER BY revision")
        while try rows.step() {
            guard let reading = Row.read(rows, shift: { shifts[$0] }) else {
                throw .impossible(row: "with revision \(rows.integer(0))")
            }
            switch reading {
            case .countdown(let countdown):
                result.newestRow = countdown.revision
                if let revision = result.timetable.restore(countdown) { result.superseded.append(revision) }
            case .forgotten(let key, let revision):
                result.newestRow = revision
                if let live = result.timetable.dropRestored(key) { result.superseded.append(live) }
                result.superseded.append(revision)
            }
        }
    }

    private func shifts(in database: borrowing Database) throws(SQLiteFailure) -> [Int64: TimeSpan] {
        let rows = try database.prepare("SELECT id, shift FROM epoch")
        var shifts: [Int64: TimeSpan] = [:]
        while try rows.step() { shifts[rows.integer(0)] = TimeSpan(microseconds: rows.integer(1)) }
        return shifts
    }

    /// Goes on at a revision that was never given.
    private func goOn(
        _ result: inout Result,
        after last: LastDaemon?,
        newest: Revision,
        in database: borrowing Database
    ) throws(SQLiteFailure) {
        let clock = Revision(max(1, min(now.wall.microseconds, policy.latest.microseconds)))
        guard let last else {
            let first = max(clock, Revision(newest.number + 1))
            return result.timetable.resume(at: first, oldest: first, gaps: [])
        }
        var next = newest
        if !last.wasStopped {
            next = max(clock, Revision(newest.number + Self.unstoredAtMost))
            try database.execute("INSERT OR REPLACE INTO gap VALUES (\(newest.number + 1), \(next.number - 1))")
        }
        try database.execute("DELETE FROM gap WHERE last <= \(last.oldest.number)")
        result.timetable.resume(at: next, oldest: last.oldest, gaps: try gaps(in: database))
        let isSameBoot = last.boot == boot
        let wasSet =
            (now.offset - last.offset).microseconds.magnitude >= ClockOffset.smallestStep.microseconds.magnitude
        result.offset = isSameBoot && !wasSet ? last.offset : nil
        result.stepRevision = isSameBoot && wasSet ? next : last.stepRevision
    }

    private func gaps(in database: borrowing Database) throws(SQLiteFailure) -> [ClosedRange<Revision>] {
        let rows = try database.prepare("SELECT first, last FROM gap")
        var gaps: [ClosedRange<Revision>] = []
        while try rows.step(), rows.integer(0) <= rows.integer(1) {
            gaps.append(Revision(rows.integer(0))...Revision(rows.integer(1)))
        }
        return gaps
    }

    private func markInUse(_ result: Result, in database: borrowing Database) throws(SQLiteFailure) {
        let row = try database.prepare(
            """
            INSERT OR REPLACE INTO daemon
                (id, revision, oldest_revision, step_revision, boot, offset, epoch, is_stopped)
            VALUES (1, ?, ?, ?, ?, ?, ?, 0)
            """
        )
        row.bind(result.timetable.revision.number, at: 1)
        row.bind(result.timetable.oldestRevision.number, at: 2)
        row.bind(result.stepRevision?.number, at: 3)
        row.bind(boot, at: 4)
        row.bind((result.offset ?? now.offset).microseconds, at: 5)
        row.bind(result.epoch, at: 6)
        try row.run()
    }
}

extension SQLiteFailure {
    /// A row that no daemon has written.
    static func impossible(row: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CORRUPT, description: "the row \(row) cannot be one of countdownd's")
    }
}
