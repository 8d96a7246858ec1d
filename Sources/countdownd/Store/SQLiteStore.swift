import CountdownCore
import Fleet
import Glibc
import System

/// Stores every change in an SQLite database.
///
/// A commit appends its changes, which is cheap, and deletes some dead rows. These are scattered over the file, so that
/// deleting one takes as long as appending several; commits in quick succession leave them. With `synchronous=NORMAL` a
/// committed change survives the death of the process, with `FULL` that of the machine.
final class SQLiteStore: Store {

    /// Dead rows that a commit deletes, in addition to two for each of its changes: a few microseconds each.
    private static let deletionsInCommit = 64
    /// Dead rows that are deleted at once when the daemon is idle: this takes a millisecond or two.
    private static let deletionsWhenIdle = 128

    /// Commits in quick succession trust the system's reports on the files; every so often they compare them anyway.
    private static let commitsBetweenComparisons = 128

    private let file: StoreFile
    private var database: Database
    private var lock: DatabaseLock
    private var directory: StateDirectory
    private var files: StoreFiles
    private var statements: Statements
    /// Nil if the daemon has no fleet. If the tables could not be read, nil until the first commit of changes of the fleet.
    private var fleet: FleetTables?
    private(set) var checkpointer: Checkpointer
    /// What the store remembers besides the countdowns. New rows refer to its boot.
    private var record: ShutdownRecord
    /// Rows that do not count any more, in the order in which they may be deleted.
    private var deadRows: DeadRows
    private var newest: Revision
    /// All ends up to this revision were given up, and whether this is stored.
    private var oldest: Revision
    private var oldestIsStored = true
    /// Whether the connection is in a read transaction.
    private var holdsSnapshot = false
    private var commitsUntilComparison = SQLiteStore.commitsBetweenComparisons
    private(set) var checkpoints = 0
    var logPages: Int { database.walFrames }
    /// After a checkpoint has failed, the next one waits until the log has this many frames.
    private var framesForNextCopy = 0
    /// The most frames that the log has had since its file was truncated.
    private var framesOfFile = 0

    /// - Parameters:
    ///   - database: open, and read.
    ///   - lock: of the database.
    ///   - loaded: the contents of the database.
    ///   - file: where the database is.
    ///   - directory: stays locked as long as the store is open.
    /// - Throws: if the tables are not those of this version, or files are lost already.
    init(
        _ database: consuming Database,
        _ lock: consuming DatabaseLock,
        loaded: borrowing Recovery.Result,
        of file: StoreFile,
        in directory: consuming StateDirectory
    ) throws(StoreFailure) {
        self.file = file
        do throws(SQLiteFailure) {
            guard let record = loaded.record else { throw .corrupt("nothing was read") }
            self.record = record
            statements = try Statements(database)
            // If nothing was read or written since the log was switched on, the first read makes the log and its index.
            _ = try database.integer("PRAGMA schema_version")
        } catch {
            throw StoreFailure(error, of: file.path)
        }
        files = try StoreFiles(of: DatabaseFiles(path: file.path))
        self.database = database
        self.lock = lock
        self.directory = directory
        checkpointer = Checkpointer(path: file.path, thresholds: file.thresholds)
        deadRows = DeadRows(loaded.deadRows)
        newest = loaded.newestRow
        oldest = loaded.timetable.oldestRevision
    }

    func commit(_ changes: Changes, deferringCleanup: Bool) throws(StoreFailure) {
        try checkFiles(comparing: !deferringCleanup)
        let deletions = deadRows.deletable(
            before: newest,
            most: deletions(with: changes, deferringCleanup: deferringCleanup)
        )
        var tables = fleet
        do throws(SQLiteFailure) {
            if deferringCleanup { try holdSnapshot() }
            try transact { () throws(SQLiteFailure) in
                try statements.insertion.run(changes.steps, boot: record.boot)
                try delete(deletions)
                if let step = changes.clockStep {
                    try statements.keepStep.run(binding: step.offset.microseconds, step.revision.number)
                }
                if let changes = changes.fleet { tables = try keep(changes, in: tables) }
                // A commit without changes is a test whether the store works.
                if changes.isEmpty { try writeSomething() }
            }
        } catch {
            releaseSnapshot()
            // A transaction that was written to the log but could not be synced is replaced: a daemon that opens the store later
            // would find it complete.
            if error.isOfInputOrOutput { try? transact(writeSomething) }
            // A lock that is held for so long is not waited for again before it is released: that would delay every turn.
            if error.isOfLock { database.wait(milliseconds: 0) }
            // If not even the tables of a fleet can be emptied, only a new store helps.
            let isOfTables = changes.fleet != nil && fleet == nil && error.isOfContents
            var failure = StoreFailure(error, of: isOfTables ? file.path : nil)
            failure.isOfFiles = isOfTables
            throw failure
        }
        database.wait(milliseconds: Database.busyMilliseconds)
        fleet = tables
        noteDeleted(deletions)
        note(changes.steps)
        if let step = changes.clockStep { note(step) }
        checkpoint(whenIdle: false)
    }

    func openFleet(restore: (LogEntry, Int64) -> Void) throws(StoreFailure) -> LogCursor.Position? {
        do throws(SQLiteFailure) {
            let tables = try FleetTables(in: database)
            let position = try tables.load(from: database, restore: restore)
            fleet = tables
            return position
        } catch {
            throw StoreFailure(error, of: file.path)
        }
    }

    func check() throws(StoreFailure) { try checkFiles(comparing: true) }

    /// - Parameter comparing: whether to compare the files even if the system has reported nothing.
    /// - Throws: if a file is lost.
    private func checkFiles(comparing: Bool) throws(StoreFailure) {
        commitsUntilComparison -= 1
        let logBytes = database.logBytes
        guard comparing || commitsUntilComparison <= 0 || files.mayBeLost(logBytes: logBytes) else { return }
        try files.check(logBytes: logBytes, isCheckpointing: checkpointer.isCopying)
        try keepLocked()
        commitsUntilComparison = Self.commitsBetweenComparisons
    }

    /// Locks the directory again if its lock file was removed.
    private func keepLocked() throws(StoreFailure) {
        guard !directory.isLocked else { return }
        directory = try attempt(try StateDirectory.ofStore(at: directory.path))
    }

    private func attempt<Lock: ~Copyable>(
        _ lock: @autoclosure () throws(OpenError) -> Lock
    ) throws(StoreFailure) -> Lock {
        do throws(OpenError) {
            return try lock()
        } catch {
            throw StoreFailure(error)
        }
    }

    func rewrite(_ timetable: borrowing Timetable, clockStep: ClockStep?, at now: Now) throws(StoreFailure) -> String? {
        try files.checkPlace()
        try keepLocked()
        if let clockStep { note(clockStep) }
        record.revision = timetable.revision
        record.oldest = timetable.oldestRevision
        let files = DatabaseFiles(path: file.path)
        let kept = try StoreRewrite(files: files, now: now).run(timetable, record)
        let lock = try attempt(try DatabaseLock(path: file.path))
        do throws(SQLiteFailure) {
            let database = try file.connect()
            statements = try Statements(database)
            if fleet != nil { fleet = try FleetTables(in: database) }
            holdsSnapshot = false
            // The log of the old store is no part of the new one.
            self.database.keepLogOnClose(true)
            self.database = database
        } catch {
            throw StoreFailure(error, of: file.path)
        }
        self.lock = lock
        self.files = try StoreFiles(of: files)
        checkpointer = Checkpointer(path: file.path, thresholds: file.thresholds)
        deadRows = DeadRows([])
        (newest, oldest, oldestIsStored) = (record.revision, record.oldest, true)
        (framesForNextCopy, framesOfFile) = (0, 0)
        return kept
    }

    func cleanUp() throws(StoreFailure) -> Bool {
        releaseSnapshot()
        // Cleanup can wait until a lock is released; no turn has to wait for it.
        database.wait(milliseconds: 0)
        defer { database.wait(milliseconds: Database.busyMilliseconds) }
        if commitsUntilComparison < Self.commitsBetweenComparisons { try check() }
        checkpoint(whenIdle: true)
        guard deadRows.count > Self.deletionsInCommit else { return false }
        let deletions = deadRows.deletable(before: newest, most: Self.deletionsWhenIdle)
        do throws(SQLiteFailure) {
            try transact { () throws(SQLiteFailure) in try delete(deletions) }
        } catch {
            // A failure matters only if there are changes; the next commit reports it.
            return false
        }
        noteDeleted(deletions)
        return true
    }

    /// How many dead rows a commit deletes; if too many are left, at least as many as it can add.
    private func deletions(with changes: Changes, deferringCleanup: Bool) -> Int {
        guard deferringCleanup else { return Self.deletionsInCommit + 2 * changes.steps.count }
        return deadRows.count < file.thresholds.deadRows ? 0 : 2 * changes.steps.count
    }

    /// Runs the body in a transaction. If it throws, nothing is stored.
    private func transact(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        try begin()
        do throws(SQLiteFailure) {
            try body()
            try statements.commit.run()
        } catch {
            if database.isInTransaction { try? statements.rollback.run() }
            throw error
        }
    }

    private func begin() throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try statements.begin.run()
        } catch {
            // Another connection has written, so the snapshot is old, or is writing, and SQLite does not wait for that.
            guard error.isOfLock, holdsSnapshot else { throw error }
            releaseSnapshot()
            try statements.begin.run()
        }
    }

    /// Keeps the connection in a read transaction between commits in quick succession, by a query that is not run to its end.
    /// Otherwise each commit begins and ends one, which takes four locks of its six.
    ///
    /// A checkpoint does not copy beyond the frame at which the transaction began, so it is ended before each checkpoint.
    private func holdSnapshot() throws(SQLiteFailure) {
        guard !holdsSnapshot else { return }
        holdsSnapshot = try statements.snapshot.step()
    }

    private func releaseSnapshot() {
        guard holdsSnapshot else { return }
        statements.snapshot.reset()
        holdsSnapshot = false
    }

    func drop(_ endings: [Revision]) {
        guard let last = endings.last else { return }
        oldest = max(oldest, last)
        oldestIsStored = false
        deadRows.append(contentsOf: endings)
    }

    func close(at revision: Revision) {
        releaseSnapshot()
        // If this fails, the next start assumes a crash, which is right.
        try? statements.stop.run(binding: revision.number, oldest.number)
    }

    private func note(_ step: ClockStep) {
        record.offset = step.offset
        record.stepRevision = step.revision
    }

    private func note(_ steps: [Change]) {
        if let last = steps.last { newest = last.countdown.revision }
        // A change is not copied if only its fields are read, so the function of the countdown comes last.
        for index in steps.indices {
            if let replaced = steps[index].replaced { deadRows.append(replaced) }
            guard steps[index].countdown.forget, !steps[index].countdown.isLive else { continue }
            deadRows.append(steps[index].countdown.revision)
        }
    }

    /// Deletes rows. Before the first end is deleted that was given up, this is stored.
    private func delete(_ revisions: [Revision]) throws(SQLiteFailure) {
        guard !revisions.isEmpty else { return }
        if !oldestIsStored { try statements.keepOldest.run(binding: oldest.number) }
        try statements.deletion.run(revisions.map(\.number))
    }

    private func noteDeleted(_ revisions: [Revision]) {
        guard !revisions.isEmpty else { return }
        oldestIsStored = true
        deadRows.removeFirst(revisions.count)
    }

    /// Writes a page although nothing changes: SQLite does not write a row that is set to the values it has.
    private func writeSomething() throws(SQLiteFailure) {
        try statements.markStopped.run(binding: 1)
        try statements.markStopped.run(binding: 0)
    }

    /// Writes the changes of a member of a fleet.
    ///
    /// - Parameters:
    ///   - changes: the changes.
    ///   - tables: nil if they could not be read. Then they are emptied, because the daemon has begun without their rows.
    /// - Returns: the tables; those that were nil are there once the transaction is committed.
    /// - Throws: SQLite's error.
    private func keep(_ changes: FleetChanges, in tables: FleetTables?) throws(SQLiteFailure) -> FleetTables {
        let tables = if let tables { tables } else { try FleetTables(in: database, emptied: true) }
        try tables.write(changes)
        if let oldest = changes.oldest {
            self.oldest = max(self.oldest, oldest)
            try statements.keepOldest.run(binding: self.oldest.number)
        }
        return tables
    }

    /// Keeps the write-ahead log short.
    private func checkpoint(whenIdle: Bool) {
        let frames = database.walFrames
        framesOfFile = max(framesOfFile, frames)
        guard frames >= framesForNextCopy else { return }
        let advice = checkpointer.advice(frames: frames, whenIdle: whenIdle)
        // Nothing is copied into a file that another program has overwritten.
        guard advice != .nothing, (try? checkFiles(comparing: false)) != nil else { return }
        releaseSnapshot()
        switch advice {
        case .nothing: break
        case .startInBackground:
            checkpoints += 1
            files.noteCheckpoint()
            checkpointer.start()
        case .finish:
            // Truncating takes longer if the log is longer.
            let cuttingOff = whenIdle && framesOfFile > 2 * file.thresholds.worthCopying
            let copy = try? database.checkpoint(cuttingOff: cuttingOff)
            if cuttingOff, copy != nil { framesOfFile = 0 }
            files.noteCheckpoint()
            framesForNextCopy = copy == nil ? frames + file.thresholds.worthCopying : 0
            checkpointer.hasFinished()
        case .pause:
            framesForNextCopy = frames + file.thresholds.worthCopying
            checkpointer.hasFinished()
        }
    }
}

/// The prepared statements of a store.
struct Statements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement
    /// A query that begins a read transaction.
    let snapshot: Statement
    let insertion: RowInsertion
    let deletion: RowDeletion
    let keepStep: Statement
    let markStopped: Statement
    let keepOldest: Statement
    let stop: Statement

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        rollback = try database.prepare("ROLLBACK")
        snapshot = try database.prepare("SELECT 1 FROM daemon")
        insertion = try RowInsertion(database)
        deletion = try RowDeletion(database)
        keepStep = try database.prepare("UPDATE daemon SET offset = ?, step_revision = ?")
        markStopped = try database.prepare("UPDATE daemon SET is_stopped = ?")
        keepOldest = try database.prepare("UPDATE daemon SET oldest_revision = ?")
        stop = try database.prepare("UPDATE daemon SET revision = ?, oldest_revision = ?, is_stopped = 1")
    }
}

/// Rows that do not count any more, oldest first: a row is deleted after all rows that it replaced.
struct DeadRows {
    private var revisions: [Revision]
    private var first = 0

    init(_ revisions: [Revision]) {
        self.revisions = revisions
    }

    var count: Int { revisions.count - first }

    mutating func append(_ revision: Revision) {
        revisions.append(revision)
    }

    mutating func append(contentsOf more: [Revision]) {
        revisions.append(contentsOf: more)
    }

    /// The next rows that may be deleted. The newest row of all stays, so that its revision is never given again.
    ///
    /// - Returns: a copy, because a slice would force the next append to copy all rows.
    func deletable(before newest: Revision, most: Int) -> [Revision] {
        Array(revisions[first...].prefix(most).prefix { $0 < newest })
    }

    mutating func removeFirst(_ count: Int) {
        first += count
        guard first > revisions.count / 2 else { return }
        revisions.removeFirst(first)
        first = 0
    }
}
