import CountdownCore

/// Reads a store: what it held, as the clocks are now.
struct Loading {
    /// What was read.
    struct Result: ~Copyable {
        var timetable: Timetable
        /// The newest revision when the system clock was set last, nil where that is not known to have happened.
        var stepRevision: Revision?
        /// The offset of the clocks as the last daemon held it, nil where this is another boot or it was set since.
        var offset: Duration?
        /// The epoch for the rows that are added.
        var epoch: Int64 = 1
        /// That of the newest row; it is not deleted before there is a newer one.
        var newestRow = Revision(0)
        /// Rows that count no more.
        var superseded: [Revision] = []
        /// Whether the last daemon was stopped, which the file has said until now.
        var wasStopped = false
        /// Rows that cannot be ours, and stay where they are.
        var leftOut: [LeftOut] = []
    }

    let policy: Policy
    let now: Now
    /// The identity of this boot; empty where it is not known.
    let boot: String

    /// Reads all, and only then marks the store as one that is in use; where anything fails, nothing has changed.
    func load(from database: borrowing Database) throws(SQLiteFailure) -> Result {
        try database.inTransaction { database throws(SQLiteFailure) in
            let last = try LastDaemon.read(from: database)
            let isSameBoot = last?.boot == boot && !boot.isEmpty
            let epochs = try Epochs(of: database, last: last, isSameBoot: isSameBoot, now: now)
            var result = Result(timetable: Timetable(policy: policy, revision: Revision(0)))
            result.epoch = epochs.current
            let used = try readRows(into: &result, from: database, epochs)
            var gaps = try Gaps(of: database, leavingOut: &result.leftOut)
            try goOn(&result, after: last, &gaps, isSameBoot: isSameBoot)
            try epochs.write(to: database, keeping: result.leftOut.isEmpty ? used : nil)
            try gaps.write(to: database)
            try inUse(result).write(to: database)
            return result
        }
    }

    /// - Returns: the epochs that rows are of.
    private func readRows(
        into result: inout Result,
        from database: borrowing Database,
        _ epochs: Epochs
    ) throws(SQLiteFailure) -> Set<Int64> {
        let batches = try database.prepare("SELECT first, changes FROM batch ORDER BY first")
        let reader = ReadingAhead(of: batches, epochs)
        while let portion = try reader.next() {
            for reading in portion { result.take(reading) }
            if result.timetable.needsFlush { result.settle(at: now) }
        }
        result.settle(at: now)
        return reader.usedEpochs
    }

    /// Goes on at a revision that was never given.
    private func goOn(
        _ result: inout Result,
        after last: LastDaemon?,
        _ gaps: inout Gaps,
        isSameBoot: Bool
    ) throws(SQLiteFailure) {
        let clock = Revision(max(1, min(now.wall.microseconds, Revision.latestClock)))
        guard let last else {
            guard result.newestRow.number == 0, result.leftOut.isEmpty else { throw .corrupt("table daemon is empty") }
            return result.timetable.resume(at: clock, oldest: clock, gaps: [])
        }
        result.wasStopped = last.wasStopped
        var next = max(result.newestRow, last.revision)
        if !last.wasStopped { next = gaps.add(after: next, clock: clock) }
        let oldest = max(last.oldest, result.timetable.oldestRevision)
        let floor = result.leftOut.map { $0.revision ?? next }.max()
        gaps.drop(upTo: oldest)
        result.timetable.resume(at: next, oldest: max(oldest, floor ?? oldest), gaps: gaps.ranges)
        let wasSet =
            (now.offset - last.offset).microseconds.magnitude >= ClockOffset.smallestStep.microseconds.magnitude
        result.offset = isSameBoot && !wasSet ? last.offset : nil
        result.stepRevision = isSameBoot && wasSet ? next : last.stepRevision
    }

    /// What the store is to say while this daemon has it.
    private func inUse(_ result: borrowing Result) -> LastDaemon {
        LastDaemon(
            revision: result.timetable.revision,
            oldest: result.timetable.oldestRevision,
            stepRevision: result.stepRevision,
            boot: boot,
            offset: result.offset ?? now.offset,
            epoch: result.epoch,
            wasStopped: false
        )
    }
}

extension Loading.Result {
    /// Takes in what a row says, after those before it.
    fileprivate mutating func take(_ reading: Row.Reading) {
        if let revision = reading.revision { newestRow = max(newestRow, revision) }
        switch reading {
        case .countdown(let countdown):
            timetable.restore(countdown)
        case .forgotten(let key, let revision):
            let live = timetable.dropRestored(key)
            superseded += timetable.flush()
            if let live { superseded.append(live) }
            superseded.append(revision)
        case .impossible(let row):
            // Whatever it was meant to say, an earlier row does not count any more.
            if let key = row.key { _ = timetable.dropRestored(key) }
            leftOut.append(LeftOut(row: row.place, fault: row.fault, revision: row.revision))
        }
    }

    /// Lets what was taken in be found.
    fileprivate mutating func settle(at now: Now) {
        superseded += timetable.flush()
        // What was let go of may not have been deleted: it must not take memory once more.
        var limit = Int.max
        superseded += timetable.compact(at: now, budget: &limit)
    }
}
