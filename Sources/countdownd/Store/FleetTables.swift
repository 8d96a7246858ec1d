import CSQLite
import CountdownCore
import Fleet

/// What a member of a fleet stores together with the changes of a turn.
struct FleetChanges {
    /// The records that have changed, by their keys. An entry without a record is deleted.
    var entries: [Key: LogEntry] = [:]
    /// How far the log of the shard is known; nil while a snapshot is read.
    var position: LogCursor.Position?
    /// If the history was trimmed, the oldest revision from which a watch can be resumed.
    var oldest: Revision?

    /// These changes and later ones, as one.
    func followed(by later: FleetChanges) -> FleetChanges {
        FleetChanges(
            entries: entries.merging(later.entries) { $1 },
            position: later.position,
            oldest: later.oldest ?? oldest
        )
    }
}

/// The tables of a member of a fleet: the records of the engine that are known here, and the place in its log up to which they
/// are. A daemon without a fleet never makes them.
struct FleetTables {
    private static let shard: Int64 = 0
    private static let tables = """
        CREATE TABLE IF NOT EXISTS fleet_record (
            key TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            id TEXT NOT NULL,
            record TEXT NOT NULL              -- JSON; its instants are in us by the engine's clock
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS fleet_cursor (
            shard INTEGER PRIMARY KEY,
            version INTEGER NOT NULL,
            id TEXT
        );
        """

    private let put: Statement
    private let delete: Statement
    private let move: Statement
    private let forget: Statement

    /// Makes the tables if they are missing.
    init(in database: borrowing Database) throws(SQLiteFailure) {
        try database.execute(Self.tables)
        put = try database.prepare("INSERT OR REPLACE INTO fleet_record VALUES (?, ?, ?, ?)")
        delete = try database.prepare("DELETE FROM fleet_record WHERE key = ?")
        move = try database.prepare("INSERT OR REPLACE INTO fleet_cursor VALUES (\(Self.shard), ?, ?)")
        forget = try database.prepare("DELETE FROM fleet_cursor")
    }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - database: that of the tables.
    ///   - restore: gets each record.
    /// - Returns: how far the log is known; nil if a snapshot is needed. Without it, the records mean nothing.
    /// - Throws: if the tables cannot be read.
    static func load(
        from database: borrowing Database,
        restore: (LogEntry) -> Void
    ) throws(SQLiteFailure) -> LogCursor.Position? {
        let cursor = try database.prepare("SELECT version, id FROM fleet_cursor WHERE shard = \(shard)")
        guard try cursor.step(), let version = cursor.integer(0) else { return nil }
        let id = cursor.text(1).flatMap(ProposalID.init)
        let rows = try database.prepare("SELECT key, version, id, record FROM fleet_record")
        while try rows.step() {
            // A row that no daemon writes: the engine has the record.
            guard let entry = entry(rows) else { return nil }
            restore(entry)
        }
        return LogCursor.Position(version: Version(version), id: id)
    }

    private static func entry(_ row: Statement) -> LogEntry? {
        guard let key = row.text(0).flatMap({ try? Key($0) }), let version = row.integer(1),
            let id = row.text(2).flatMap(ProposalID.init)
        else { return nil }
        return LogEntry(key: key, version: Version(version), id: id, record: row.bytes(3))
    }

    /// Writes changes, in the transaction of the caller.
    func write(_ changes: FleetChanges) throws(SQLiteFailure) {
        for (key, entry) in changes.entries {
            guard let record = entry.record else {
                delete.bind(key.text, at: 1)
                try delete.run()
                continue
            }
            put.bind(key.text, at: 1)
            put.bind(entry.version.number, at: 2)
            put.bind(entry.id.text, at: 3)
            try put.run(with: record.span, at: 4)
        }
        guard let position = changes.position else { return try forget.run() }
        move.bind(position.version.number, at: 1)
        move.bind(position.id?.text, at: 2)
        try move.run()
    }
}
