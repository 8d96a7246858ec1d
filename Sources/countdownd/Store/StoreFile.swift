import CountdownCore

/// The database file: opened, made, or moved aside where it cannot be read.
///
/// Nothing of a file is changed before it has been read, and nothing is ever deleted: a file that is not a store of ours,
/// or is broken, or was written by a newer daemon, gets another name as it is, and a new store is begun.
struct StoreFile {
    /// A connection, and what was read over it.
    struct Opened: ~Copyable {
        let database: Database
        var result: Loading.Result
    }

    let path: String
    let durability: SQLiteStore.Durability
    let loading: Loading
    let log: Log
    var schema = Schema.current

    /// Opens the file and reads it.
    ///
    /// - Parameter directory: where the file lies; held as long as the store.
    /// - Returns: the store, and what it held.
    /// - Throws: where the file can be neither opened nor moved aside now.
    func open(in directory: consuming StateDirectory) throws(StoreFailure) -> OpenedStore {
        let opened = try openOrBeginAnew()
        let loaded = opened.result
        do throws(SQLiteFailure) {
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

    /// Opens what stands there, and where that cannot be read, moves it aside and begins anew.
    func openOrBeginAnew() throws(StoreFailure) -> Opened {
        do throws(Obstacle) {
            do throws(Obstacle) {
                return try openOrMakeUnlessDamaged()
            } catch {
                guard case .unreadable(let unreadable) = error else { throw error }
                try moveAside(unreadable)
            }
            return try openOrMake()
        } catch {
            switch error {
            case .unavailable(let failure): throw failure
            case .unreadable(let unreadable): throw StoreFailure(reason: "\(path): \(unreadable.what)", remedy: nil)
            }
        }
    }

    /// SQLite says of a disk that fails while tables are looked up that the file is damaged. So what is to pass for damaged
    /// has to be readable to its end, and to be damaged once more.
    private func openOrMakeUnlessDamaged() throws(Obstacle) -> Opened {
        do throws(Obstacle) {
            return try openOrMake()
        } catch {
            guard case .unreadable(.damaged) = error else { throw error }
            try DatabaseFiles(path: path).readThrough()
            return try openOrMake()
        }
    }

    private func moveAside(_ unreadable: Unreadable) throws(Obstacle) {
        let place: String
        do throws(SystemFailure) {
            place = try DatabaseFiles(path: path).moveAside(at: loading.now.wall)
        } catch {
            throw .unavailable(StoreFailure(error, of: "\(path): \(unreadable.what), and it cannot be moved aside"))
        }
        let advice = unreadable.advice(path: path, place: place)
        log.write(
            .error,
            "\(path) cannot be read: \(unreadable.what). It is kept as \(place), and a new store is begun; \(advice)"
        )
    }

    private func openOrMake() throws(Obstacle) -> Opened {
        let examined = try examine()
        let result = try attempt { () throws(SQLiteFailure) in
            try examined.isEmpty ? make(examined.database) : read(examined.database)
        }
        examined.database.keepLogOnClose(false)
        return Opened(database: examined.database, result: result)
    }

    /// Whatever SQLite says is an obstacle.
    func attempt<Result: ~Copyable>(
        _ body: () throws(SQLiteFailure) -> Result
    ) throws(Obstacle) -> Result {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw Obstacle(error, at: path)
        }
    }

    private func make(_ database: borrowing Database) throws(SQLiteFailure) -> Loading.Result {
        try schema.create(in: database)
        try tune(database)
        return try loading.load(from: database)
    }

    private func read(_ database: borrowing Database) throws(SQLiteFailure) -> Loading.Result {
        // In one, so that an old store whose rows turn out to be unreadable is still that of the old version.
        let result = try database.inTransaction { database throws(SQLiteFailure) in
            try schema.migrate(database)
            return try loading.load(from: database)
        }
        report(result.leftOut)
        try tune(database)
        // Where its log is lost, the file must not go on saying that nothing can be missing.
        if result.wasStopped { try database.checkpoint() }
        return result
    }

    private func report(_ leftOut: [LeftOut]) {
        guard let first = leftOut.first else { return }
        let what =
            leftOut.count == 1
            ? "a row is not served and left as it is, as no countdownd writes such: the one"
            : "\(leftOut.count) rows are not served and left as they are, as no countdownd writes such; the first is the one"
        log.write(.error, "\(path): \(what) \(first)")
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
