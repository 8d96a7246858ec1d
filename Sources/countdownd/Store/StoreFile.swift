import CLinux
import CSQLite
import CountdownCore
import Glibc

/// The database file: opened, made, or moved aside where it cannot be read.
///
/// Nothing is ever deleted: a file that is not a store of ours, or is broken, or was written by a newer daemon, gets
/// another name, and a new store is begun.
struct StoreFile {
    private struct Opened: ~Copyable {
        let database: Database
        let result: Loading.Result
    }

    /// How long a lock of another connection is waited out: a backup, or a person with sqlite3.
    private static let busyMilliseconds: Int32 = 250

    let path: String
    let durability: SQLiteStore.Durability
    let loading: Loading
    let log: Log

    /// Opens the file and reads it.
    ///
    /// - Parameter directory: where the file lies; held as long as the store.
    /// - Returns: the store, and what it held.
    /// - Throws: where the file can be neither opened nor moved aside now.
    func open(in directory: consuming StateDirectory) throws(StoreFailure) -> OpenedStore {
        do throws(SQLiteFailure) {
            let opened = try openOrBeginAnew()
            let loaded = opened.result
            return OpenedStore(
                store: try SQLiteStore(database: opened.database, path: path, loaded: loaded, in: directory),
                timetable: loaded.timetable,
                stepRevision: loaded.stepRevision,
                offset: loaded.offset
            )
        } catch {
            throw StoreFailure(error, of: path)
        }
    }

    private func openOrBeginAnew() throws(SQLiteFailure) -> Opened {
        // Whoever moved a store aside and died in between has left its log behind.
        if FileIdentity.status(of: path) == nil { try moveAside(suffix: "-wal") }
        do throws(SQLiteFailure) {
            return try openOrMake()
        } catch {
            guard error.isOfContents else { throw error }
            let place = try moveAside(suffix: "") ?? path
            try moveAside(suffix: "-wal")
            log.write(.error, "\(path) cannot be read (\(error)); it is kept as \(place), and a new store is begun")
        }
        return try openOrMake()
    }

    private func openOrMake() throws(SQLiteFailure) -> Opened {
        let database = try Database(path: path, busyMilliseconds: Self.busyMilliseconds)
        switch try Schema.contents(of: database) {
        case .store(Schema.version): break
        case .empty: try Schema.create(in: database)
        case .store(let version):
            throw SQLiteFailure(code: SQLITE_FORMAT, description: "version \(version) is of a newer countdownd")
        case .foreign:
            throw SQLiteFailure(code: SQLITE_NOTADB, description: "it is another program's database")
        }
        try database.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = \(durability == .process ? "NORMAL" : "FULL");
            PRAGMA journal_size_limit = 4194304;
            """
        )
        let result = try loading.load(from: database)
        return Opened(database: database, result: result)
    }

    /// Gives one of the store's files a name with the date, which sqlite3 still finds its log by.
    ///
    /// - Returns: the new path, nil where there is no such file.
    @discardableResult
    private func moveAside(suffix: String) throws(SQLiteFailure) -> String? {
        guard FileIdentity.status(of: path + suffix) != nil else { return nil }
        let stem = path.hasSuffix(".db") ? String(path.dropLast(3)) : path
        let stamp = unsafe String(unsafeUninitializedCapacity: Int(LINUX_STAMP_LENGTH)) {
            unsafe Int(linux_utc_stamp(time_t(loading.now.wall.microseconds / 1_000_000), $0.baseAddress))
        }
        var place = "\(stem)-unreadable-\(stamp).db\(suffix)"
        var number = 1
        while FileIdentity.status(of: place) != nil {
            number += 1
            place = "\(stem)-unreadable-\(stamp)-\(number).db\(suffix)"
        }
        guard unsafe rename(path + suffix, place) == 0 else {
            throw SQLiteFailure(code: SQLITE_IOERR, description: "\(SystemFailure("rename")) (\(path + suffix))")
        }
        return place
    }
}
