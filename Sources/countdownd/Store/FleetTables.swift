import CSQLite
import CountdownCore
import Fleet

/// What a member of a fleet stores together with the changes of a turn.
struct FleetChanges {
    /// The rows of the records that have changed, in this order.
    var rows: [Shard.RowChange] = []
    /// How far the log of the shard is known; nil while a snapshot is read.
    var position: LogCursor.Position?
    /// If the history was trimmed, the oldest revision from which a watch can be resumed.
    var oldest: Revision?

    /// These changes and later ones, as one.
    func followed(by later: FleetChanges) -> FleetChanges {
        FleetChanges(
            rows: rows + later.rows,
            position: later.position,
            oldest: later.oldest ?? oldest
        )
    }
}

/// The tables of a member of a fleet: the records of the engine that are known here, and the place in its log up to which they
/// are. A daemon without a fleet never makes them.
///
/// Records are appended, and the row that a record replaces is deleted by its number, which the shard knows: an index of the keys
/// would be written at places of chance, which takes a hundred times as long if there are many.
struct FleetTables {
    private static let shard: Int64 = 0
    private static let tables = """
        CREATE TABLE IF NOT EXISTS fleet_record (
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            id TEXT NOT NULL,
            record TEXT NOT NULL              -- JSON; its instants are in us by the engine's clock
        );
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
        put = try database.prepare("INSERT INTO fleet_record VALUES (?, ?, ?, ?, ?)")
        delete = try database.prepare("DELETE FROM fleet_record WHERE number = ?")
        move = try database.prepare("INSERT OR REPLACE INTO fleet_cursor VALUES (\(Self.shard), ?, ?)")
        forget = try database.prepare("DELETE FROM fleet_cursor")
    }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - database: that of the tables.
    ///   - restore: gets each record with the number of its row.
    /// - Returns: how far the log is known; nil if a snapshot is needed. Without it, the records mean nothing.
    /// - Throws: if the tables cannot be read.
    func load(
        from database: borrowing Database,
        restore: (LogEntry, Int64) -> Void
    ) throws(SQLiteFailure) -> LogCursor.Position? {
        let position = try position(in: database)
        let rows = try database.prepare("SELECT key, version, id, record, number FROM fleet_record ORDER BY number")
        var isWhole = position != nil
        while isWhole, try rows.step() {
            // A row that no daemon writes: the engine has the record.
            guard let entry = Self.entry(rows), let number = rows.integer(4) else {
                isWhole = false
                continue
            }
            restore(entry, number)
        }
        guard !isWhole else { return position }
        rows.reset()
        try database.execute("DELETE FROM fleet_record; DELETE FROM fleet_cursor")
        return nil
    }

    private func position(in database: borrowing Database) throws(SQLiteFailure) -> LogCursor.Position? {
        let cursor = try database.prepare("SELECT version, id FROM fleet_cursor WHERE shard = \(Self.shard)")
        guard try cursor.step(), let version = cursor.integer(0) else { return nil }
        return LogCursor.Position(version: Version(version), id: cursor.text(1).flatMap(ProposalID.init))
    }

    private static func entry(_ row: Statement) -> LogEntry? {
        guard let key = row.text(0).flatMap({ try? Key($0) }), let version = row.integer(1),
            let id = row.text(2).flatMap(ProposalID.init)
        else { return nil }
        return LogEntry(key: key, version: Version(version), id: id, record: row.bytes(3))
    }

    /// Writes changes, in the transaction of the caller.
    func write(_ changes: FleetChanges) throws(SQLiteFailure) {
        for row in changes.rows {
            switch row {
            case .insert(let number, let entry):
                let record = entry.record ?? []
                put.bind(number, at: 1)
                put.bind(entry.key.text, at: 2)
                put.bind(entry.version.number, at: 3)
                put.bind(entry.id.text, at: 4)
                try put.run(with: record.span, at: 5)
            case .delete(let number):
                delete.bind(number, at: 1)
                try delete.run()
            }
        }
        guard let position = changes.position else { return try forget.run() }
        move.bind(position.version.number, at: 1)
        move.bind(position.id?.text, at: 2)
        try move.run()
    }
}
