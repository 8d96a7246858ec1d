import CountdownCore
import Glibc
import System

/// Opens the database file, creates it, or quarantines it if it cannot be read.
///
/// Nothing in a file changes before it has been read, and nothing is deleted: a file that is not a store, is corrupt, or was
/// written by a newer daemon gets another name, and a new store is created.
struct StoreFile {
    /// A connection, and the contents of the store.
    struct Opened: ~Copyable {
        let database: Database
        /// Declared after the connection, because it has to be closed after it.
        let lock: DatabaseLock
        var result: Recovery.Result
    }

    let path: String
    let durability: Durability
    let recovery: Recovery
    let log: Log
    var schema = Schema.current
    var thresholds = StoreThresholds()

    /// Finishes a new store that the last daemon wrote from memory, if it was killed meanwhile.
    func finishRewrite() throws(OpenError) {
        let rewrite = StoreRewrite(files: DatabaseFiles(path: path), now: recovery.now)
        do throws(SystemFailure) {
            let (isNew, kept) = try rewrite.finish()
            guard isNew else { return }
            let place = kept.map { "; what had its name is kept as \($0)" } ?? ""
            log.write(.notice, "\(path) is the new store that the last countdownd has written from memory\(place)")
        } catch {
            throw .unavailable(StoreFailure(error, of: path))
        }
    }

    /// Opens the file. If it cannot be read, it is quarantined and a new store is created.
    func openOrBeginAnew() throws(OpenError) -> Opened {
        do throws(OpenError) {
            return try openOrMakeUnlessDamaged()
        } catch {
            guard case .corrupt(let corruption) = error else { throw error }
            try quarantine(corruption)
        }
        do throws(OpenError) {
            return try openOrMake()
        } catch {
            guard case .corrupt(let corruption) = error else { throw error }
            throw .unavailable(StoreFailure(reason: "\(path): \(corruption.what)", hint: nil))
        }
    }

    /// If a disk fails while SQLite looks up tables, SQLite reports a corrupt file. So a file counts as corrupt only if it
    /// can be read to its end and is reported as corrupt once more.
    private func openOrMakeUnlessDamaged() throws(OpenError) -> Opened {
        do throws(OpenError) {
            return try openOrMake()
        } catch {
            guard case .corrupt(.damaged) = error else { throw error }
            try DatabaseFiles(path: path).readThrough()
            return try openOrMake()
        }
    }

    private func quarantine(_ corruption: Corruption) throws(OpenError) {
        let place: String
        do throws(SystemFailure) {
            place = try DatabaseFiles(path: path).quarantine(at: recovery.now.wall)
        } catch {
            throw .unavailable(StoreFailure(error, of: "\(path): \(corruption.what), and it cannot be moved aside"))
        }
        let advice = corruption.advice(path: path, place: place)
        log.write(
            .error,
            "\(path) cannot be read: \(corruption.what). It is kept as \(place), and a new store was created; \(advice)"
        )
    }

    /// Opens and reads the file if it is a store; if it is missing or empty, a store is created.
    ///
    /// Until everything is known to be readable, the contents do not change, and the log stays. But SQLite rolls back a
    /// transaction that a dead program has left.
    private func openOrMake() throws(OpenError) -> Opened {
        let header = try DatabaseFiles(path: path).header()
        if let fault = header.flatMap(schema.fault(of:)) { throw .corrupt(fault) }
        let lock = try DatabaseLock(path: path)
        let database = try attempt { () throws(SQLiteFailure) in
            try Database(path: path, busyMilliseconds: Database.busyMilliseconds, creating: header == nil)
        }
        database.keepLogOnClose(true)
        // If a daemon died while it created the store, the file is empty after SQLite's rollback.
        let isEmpty = try attempt { () throws(SQLiteFailure) in try database.integer("PRAGMA page_count") == 0 }
        if !isEmpty, let fault = try attempt({ () throws(SQLiteFailure) in try schema.fault(of: database) }) {
            throw .corrupt(fault)
        }
        let result = try attempt { () throws(SQLiteFailure) in try isEmpty ? make(database) : read(database) }
        database.keepLogOnClose(false)
        return Opened(database: database, lock: lock, result: result)
    }

    /// Turns SQLite's errors into errors of opening the store.
    private func attempt<Result: ~Copyable>(
        _ body: () throws(SQLiteFailure) -> Result
    ) throws(OpenError) -> Result {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw OpenError(error, at: path)
        }
    }

    private func make(_ database: borrowing Database) throws(SQLiteFailure) -> Recovery.Result {
        try schema.create(in: database)
        try tune(database)
        return try recovery.load(from: database)
    }

    private func read(_ database: borrowing Database) throws(SQLiteFailure) -> Recovery.Result {
        // In one transaction: if an old store has malformed rows, it keeps the old version.
        let result = try database.inTransaction { database throws(SQLiteFailure) in
            try schema.migrate(database)
            return try recovery.load(from: database)
        }
        report(result.skipped)
        try tune(database)
        // If its log is lost later, the file must not claim that nothing can be missing.
        if result.wasStopped { try database.checkpoint() }
        return result
    }

    private func report(_ skipped: [SkippedRow]) {
        guard let first = skipped.first else { return }
        let what =
            skipped.count == 1
            ? "a malformed row is skipped and stays in its table: the row"
            : "\(skipped.count) malformed rows are skipped and stay in their tables; the first is the row"
        log.write(.error, "\(path): \(what) \(first)")
    }

    /// Opens a new store that is known to be complete.
    func connect() throws(SQLiteFailure) -> Database {
        let database = try Database(path: path, busyMilliseconds: Database.busyMilliseconds)
        try tune(database)
        // Creates the log and its index, too.
        try database.execute("BEGIN IMMEDIATE; UPDATE daemon SET is_stopped = 0; COMMIT")
        return database
    }

    private func tune(_ database: borrowing Database) throws(SQLiteFailure) {
        try database.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = \(durability == .process ? "NORMAL" : "FULL");
            """
        )
    }
}

/// The faults of a file that can be found without changing it.
extension Schema {
    /// Up to this size SQLite checks the whole file at each start. In a larger file it checks the free pages and the rows
    /// that are loaded.
    private static let checkedWhole: Int64 = 16 << 20

    /// Why a file with this header is not a store of this version or an older one; nil if it may be one.
    func fault(of header: DatabaseHeader) -> Corruption? {
        guard header.isUsual else { return .damaged("its header is not one that SQLite writes") }
        guard header.applicationID == Self.applicationID || header.hasLog else {
            return .ofAnotherProgram(applicationID: header.applicationID)
        }
        return header.userVersion > version ? .newer(version: header.userVersion, known: version) : nil
    }

    /// Why a database, with its log, is not such a store; nil if it is one.
    func fault(of database: borrowing Database) throws(SQLiteFailure) -> Corruption? {
        let application = try database.integer("PRAGMA application_id") ?? 0
        guard application == Self.applicationID else { return .ofAnotherProgram(applicationID: application) }
        let version = try Self.version(of: database)
        guard version <= self.version else { return .newer(version: version, known: self.version) }
        guard version >= 1 else { return .damaged("its version is \(version)") }
        if let table = try strangeTable(in: database, ofVersion: version) {
            return .strange(table: table, version: version)
        }
        let size = (try database.integer("PRAGMA page_count") ?? 0) * (try database.integer("PRAGMA page_size") ?? 0)
        let isWhole = size <= Self.checkedWhole || version < self.version
        return try database.fault(inAll: isWhole).map { .damaged($0) }
    }
}

extension Database {
    /// SQLite's description of faults in the structure of pages; nil if SQLite finds no fault.
    ///
    /// SQLite checks the free pages together with the schema table; if there are views, SQLite 3.40 checks them with no other
    /// table.
    fileprivate func fault(inAll: Bool) throws(SQLiteFailure) -> String? {
        if let finding = try finding(of: "PRAGMA quick_check(sqlite_schema)") { return finding }
        return inAll ? try finding(of: "PRAGMA quick_check(1)") : nil
    }

    /// Rows that violate a constraint are ignored here: each row is checked when it is read.
    private func finding(of check: String) throws(SQLiteFailure) -> String? {
        let findings = try prepare(check)
        guard try findings.step(), let finding = findings.text(0), finding.hasPrefix("*** in database") else {
            return nil
        }
        return finding.split(separator: "\n").dropFirst().joined(separator: ", ")
    }
}

/// Writes a new store from memory after files of the old one were lost.
///
/// Nothing is deleted: files that have the names of the store are moved aside. If the daemon is killed meanwhile, the next
/// start finds either no new store or a complete one, and finishes the work.
struct StoreRewrite {
    let files: DatabaseFiles
    let now: Now

    /// A complete new store before it gets its final name.
    private var finished: String { "\(files.path).new" }
    private var unfinished: String { "\(files.path).part" }

    /// Writes the new store and gives it its name.
    ///
    /// - Parameters:
    ///   - timetable: everything that is known.
    ///   - record: the store's state besides the countdowns.
    /// - Returns: where files are kept that had the name of the store; nil if there were none.
    /// - Throws: if this is not possible now.
    func run(_ timetable: borrowing Timetable, _ record: ShutdownRecord) throws(StoreFailure) -> String? {
        do throws(SQLiteFailure) {
            try write(timetable, record)
        } catch {
            unsafe unlink(unfinished)
            throw StoreFailure(error, of: "no new store can be written: \(unfinished)")
        }
        do throws(SystemFailure) {
            try StoredText.synchronize(unfinished)
            try DatabaseFiles.rename(unfinished, finished)
            return try giveName()
        } catch {
            // The next start would assume that it is newer than the store.
            for file in [unfinished, finished] { unsafe unlink(file) }
            throw StoreFailure(error, of: "no new store can be written: \(files.path)")
        }
    }

    /// Finishes the work of a daemon that was killed meanwhile.
    ///
    /// - Returns: whether there was a new store, and where files are kept that had its name.
    func finish() throws(SystemFailure) -> (isNew: Bool, kept: String?) {
        guard FileIdentity.status(of: finished) != nil else { return (false, nil) }
        return (true, try giveName())
    }

    private func giveName() throws(SystemFailure) -> String? {
        let kept = files.isAnyPresent ? try files.quarantine(as: "replaced", at: now.wall) : nil
        try DatabaseFiles.rename(finished, files.path)
        try StoredText.synchronize(files.directory)
        return kept
    }

    private func write(_ timetable: borrowing Timetable, _ record: ShutdownRecord) throws(SQLiteFailure) {
        unsafe unlink(unfinished)
        let database = try Database(path: unfinished, busyMilliseconds: 0, creating: true)
        // The file counts only after it is complete and synced.
        try database.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        try Schema.current.create(in: database)
        try database.execute("BEGIN; INSERT INTO boot VALUES (\(record.boot), 0)")
        for gap in timetable.unknownRevisions {
            try database.execute("INSERT INTO gap VALUES (\(gap.lowerBound.number), \(gap.upperBound.number))")
        }
        try record.write(to: database)
        let insertion = try RowInsertion(database)
        var countdowns: [KeyedCountdown] = []
        try timetable.visitAll { countdown throws(SQLiteFailure) in
            countdowns.append(countdown)
            guard countdowns.count == Self.countdownsAtOnce else { return }
            try insertion.run(countdowns, boot: record.boot)
            countdowns.removeAll(keepingCapacity: true)
        }
        try insertion.run(countdowns, boot: record.boot)
        try database.execute("COMMIT")
    }

    /// About a megabyte.
    private static let countdownsAtOnce = 4_096
}
