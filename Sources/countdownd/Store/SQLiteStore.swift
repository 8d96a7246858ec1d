import CountdownCore
import Varlink

/// Keeps every change in an SQLite database.
///
/// A commit appends its changes, in batches, which is cheap, and deletes a few that were superseded earlier: these lie
/// anywhere in the file, and each takes as long as several that are appended, and more of the log. So a commit in haste leaves them. With
/// `synchronous=NORMAL` what was committed survives the death of the process; with `FULL` that of the machine.
final class SQLiteStore: Store {
    /// What an answered change survives.
    enum Durability: String, CaseIterable {
        case process
        case powerLoss = "power-loss"
    }

    /// Superseded changes that a commit deletes besides those that its own changes have superseded, in round numbers: a
    /// few microseconds each.
    private static let deletionsInCommit = 64
    /// Changes that are deleted at once when there is nothing else to do: for a millisecond or two.
    private static let deletionsInPause = 128
    /// So many may be left in haste: 10 MiB of the file, and a tenth of a second of the next start.
    private static let mostLeft = 131_072

    private let database: Database
    private let directory: StateDirectory
    private let statements: Statements
    private let checkpointer: Checkpointer
    /// The epoch of the rows that are added: that of the boot that the daemon runs in.
    private let epoch: Int64
    /// Rows that count no more, in the order in which they may be deleted.
    private var superseded: Superseded
    private var newest: Revision
    /// Endings up to this one were let go, and whether that is stored.
    private var oldest: Revision
    private var oldestIsStored = true
    private(set) var checkpoints = 0
    /// The log is not copied before it has so many, after a copy has failed: each commit would try it again.
    private var framesForNextCopy = 0
    /// The most frames that the log has had, for which its file has room.
    private var framesOfFile = 0

    /// - Parameters:
    ///   - database: open, and read.
    ///   - path: of the database.
    ///   - loaded: what was read.
    ///   - directory: held as long as the store.
    /// - Throws: where the tables are not those of this version.
    init(
        database: consuming Database,
        path: String,
        loaded: borrowing Loading.Result,
        in directory: consuming StateDirectory
    ) throws(SQLiteFailure) {
        statements = try Statements(database)
        self.database = database
        self.directory = directory
        checkpointer = Checkpointer(path: path)
        epoch = loaded.epoch
        superseded = Superseded(loaded.superseded)
        newest = loaded.newestRow
        oldest = loaded.timetable.oldestRevision
    }

    func commit(_ changes: Changes, inHaste: Bool) throws(StoreFailure) {
        let deletions = superseded.deletable(before: newest, most: deletions(with: changes, inHaste: inHaste))
        do throws(SQLiteFailure) {
            try transact { () throws(SQLiteFailure) in
                try statements.insertion.run(changes.steps, epoch: epoch)
                try delete(deletions)
                if let step = changes.clockStep { try keep(step) }
                // Who commits nothing wants to know whether it could be stored.
                if changes.isEmpty { try writeSomething() }
            }
        } catch {
            if error.isOfInputOrOutput { try? commitNothing() }
            // Who holds a lock for so long is not waited for by each turn: until it is given up, that would hold up all.
            if error.isOfLock { database.wait(milliseconds: 0) }
            throw StoreFailure(error)
        }
        database.wait(milliseconds: Database.patience)
        noteDeleted(deletions)
        for step in changes.steps { note(step) }
        checkpoint(inPause: false)
    }

    func tidyUp() -> Bool {
        // It can wait for whoever holds a lock, and no turn has to wait for it.
        database.wait(milliseconds: 0)
        defer { database.wait(milliseconds: Database.patience) }
        checkpoint(inPause: true)
        guard superseded.count > Self.deletionsInCommit else { return false }
        let deletions = superseded.deletable(before: newest, most: Self.deletionsInPause)
        do throws(SQLiteFailure) {
            try transact { () throws(SQLiteFailure) in try delete(deletions) }
        } catch {
            // Nobody misses it: what keeps changes from being stored is told when there are some.
            return false
        }
        noteDeleted(deletions)
        return true
    }

    /// How many a commit has to do with: where too many are left, as many as it may add.
    private func deletions(with changes: Changes, inHaste: Bool) -> Int {
        guard inHaste else { return Self.deletionsInCommit + 2 * changes.steps.count }
        return superseded.count < Self.mostLeft ? 0 : 2 * changes.steps.count
    }

    /// Takes the place of a transaction that was written and could not be brought to the disk: whoever opens the store after
    /// this process has died would find it whole in the log.
    private func commitNothing() throws(SQLiteFailure) {
        try transact(writeSomething)
    }

    /// Runs the body in a transaction: all of it is stored or, where something is thrown, nothing.
    private func transact(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        try statements.begin.run()
        do throws(SQLiteFailure) {
            try body()
            try statements.commit.run()
        } catch {
            if database.isInTransaction { try? statements.rollback.run() }
            throw error
        }
    }

    func drop(_ endings: [Revision]) {
        guard let last = endings.last else { return }
        oldest = max(oldest, last)
        oldestIsStored = false
        superseded.append(contentsOf: endings)
    }

    func close(at revision: Revision) {
        do throws(SQLiteFailure) {
            statements.stop.bind(revision.number, at: 1)
            statements.stop.bind(oldest.number, at: 2)
            try statements.stop.run()
        } catch {
            // The next start takes it for a crash, and is right.
        }
    }

    private func note(_ step: Change) {
        newest = step.countdown.revision
        if let replaced = step.replaced { superseded.append(replaced) }
        if !step.countdown.isLive && step.countdown.forget { superseded.append(step.countdown.revision) }
    }

    /// Deletes rows; that endings were let go of is kept before any of theirs is missing.
    private func delete(_ revisions: [Revision]) throws(SQLiteFailure) {
        guard !revisions.isEmpty else { return }
        if !oldestIsStored { try keepOldest() }
        try statements.deletion.run(revisions)
    }

    private func noteDeleted(_ revisions: [Revision]) {
        guard !revisions.isEmpty else { return }
        oldestIsStored = true
        superseded.removeFirst(revisions.count)
    }

    /// Has a page written though nothing changes: SQLite writes none for a row that is set to what it was.
    private func writeSomething() throws(SQLiteFailure) {
        try markStopped(1)
        try markStopped(0)
    }

    private func markStopped(_ isStopped: Int64) throws(SQLiteFailure) {
        statements.markStopped.bind(isStopped, at: 1)
        try statements.markStopped.run()
    }

    private func keepOldest() throws(SQLiteFailure) {
        statements.keepOldest.bind(oldest.number, at: 1)
        try statements.keepOldest.run()
    }

    private func keep(_ step: ClockStep) throws(SQLiteFailure) {
        statements.keepStep.bind(step.offset.microseconds, at: 1)
        statements.keepStep.bind(step.revision.number, at: 2)
        try statements.keepStep.run()
    }

    /// Keeps the write-ahead log short.
    private func checkpoint(inPause: Bool) {
        let frames = database.walFrames
        framesOfFile = max(framesOfFile, frames)
        guard frames >= framesForNextCopy else { return }
        switch checkpointer.advice(frames: frames, inPause: inPause) {
        case .rest: break
        case .startInBackground:
            checkpoints += 1
            checkpointer.start()
        case .finish:
            // To cut it off takes the longer, the longer it is.
            let cuttingOff = inPause && framesOfFile > 2 * Checkpointer.worthCopying
            let copy = try? database.checkpoint(cuttingOff: cuttingOff)
            if cuttingOff, copy != nil { framesOfFile = 0 }
            framesForNextCopy = copy == nil ? frames + Checkpointer.worthCopying : 0
            checkpointer.hasFinished()
        case .pause:
            framesForNextCopy = frames + Checkpointer.worthCopying
            checkpointer.hasFinished()
        }
    }
}
