import CSQLite
import CountdownCore
import Fleet
import Varlink

/// The state that a member of a fleet must store together with the changes of a turn.
struct FleetChanges {
    /// The rows of the records that have changed, in this order.
    var rows: [Member.RowChange] = []
    /// How far the log of the fleet is known; nil while a snapshot is read.
    var position: LogCursor.Position?
    /// If the history was trimmed, the oldest revision from which a watch can be resumed.
    var oldest: Revision?

    /// Adds later changes.
    mutating func append(_ later: FleetChanges) {
        rows += later.rows
        position = later.position
        oldest = later.oldest ?? oldest
    }
}

/// The tables of a member of a fleet: the records of the engine that are known here, and the place in its log up to which they
/// are. A daemon without a fleet never makes them.
///
/// Records are appended, a few in a row as in the table `batch`, and the line that a record replaces is deleted by its number,
/// which the member knows: an index of the keys would be written at places of chance, which takes a hundred times as long if there
/// are many.
struct FleetTables {
    private static let shard: Int64 = 0
    private static let tables = """
        -- Records, up to 16 of a turn in a row, each a line: a JSON array of the columns of the view fleet_records, but with the
        -- distance of the number from `first`, 0 to 15, in place of the number.
        CREATE TABLE IF NOT EXISTS fleet_batch (
            first INTEGER PRIMARY KEY,
            changes TEXT NOT NULL
        );
        CREATE TABLE IF NOT EXISTS fleet_position (
            shard INTEGER PRIMARY KEY,
            version INTEGER NOT NULL,
            id TEXT
        );
        CREATE VIEW IF NOT EXISTS fleet_records AS
            SELECT first + json_extract(value, '$[0]') AS number,
                json_extract(value, '$[1]') AS key,
                json_extract(value, '$[2]') AS version,
                json_extract(value, '$[3]') AS id,
                json_extract(value, '$[4]') AS record    -- its instants are in us by the engine's clock
            FROM (SELECT first, '[' || replace(changes, char(10), ',') || ']' AS lines FROM fleet_batch),
                json_each(CASE WHEN json_valid(lines) THEN lines ELSE '[]' END);
        """

    private let insertion: RowInsertion
    private let deletion: RowDeletion
    private let move: Statement
    private let forget: Statement

    /// Makes the tables if they are missing, and may empty them.
    init(in database: borrowing Database, emptied: Bool = false) throws(SQLiteFailure) {
        try database.execute(Self.tables)
        if emptied { try Self.empty(database) }
        insertion = try RowInsertion(database, table: "fleet_batch")
        deletion = try RowDeletion(database, table: "fleet_batch")
        move = try database.prepare("INSERT OR REPLACE INTO fleet_position VALUES (\(Self.shard), ?, ?)")
        forget = try database.prepare("DELETE FROM fleet_position")
    }

    /// Deletes everything, the position first: alone, it would stand for records that are not there.
    private static func empty(_ database: borrowing Database) throws(SQLiteFailure) {
        try database.execute("DELETE FROM fleet_position; DELETE FROM fleet_batch")
    }

    /// Lets the next member of a fleet read a snapshot. Nothing happens if there are no tables.
    static func forgetPosition(in database: borrowing Database) throws(SQLiteFailure) {
        guard try database.integer("SELECT 1 FROM sqlite_schema WHERE name = 'fleet_position'") != nil else { return }
        try database.execute("DELETE FROM fleet_position")
    }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - database: that of the tables.
    ///   - restore: gets each record with its number.
    /// - Returns: how far the log is known; nil if a snapshot is needed. Without it, the records mean nothing.
    /// - Throws: if the tables cannot be read.
    func load(
        from database: borrowing Database,
        restore: (LogEntry, Int64) -> Void
    ) throws(SQLiteFailure) -> LogCursor.Position? {
        let position = try position(in: database)
        let rows = try database.prepare("SELECT first, changes FROM fleet_batch ORDER BY first")
        var isWhole = position != nil
        while isWhole, try rows.step() {
            guard let first = rows.integer(0) else { continue }
            let batch = RowBatch(first: first, bytes: rows.bytes(1))
            for line in batch.lines {
                // A line that no daemon writes: the engine has the record.
                guard let (entry, number) = Self.read(line, of: batch) else {
                    isWhole = false
                    break
                }
                restore(entry, number)
            }
        }
        guard !isWhole else { return position }
        rows.reset()
        try Self.empty(database)
        return nil
    }

    private func position(in database: borrowing Database) throws(SQLiteFailure) -> LogCursor.Position? {
        let cursor = try database.prepare("SELECT version, id FROM fleet_position WHERE shard = \(Self.shard)")
        guard try cursor.step(), let version = cursor.integer(0) else { return nil }
        return LogCursor.Position(version: LogVersion(version), id: cursor.text(1).flatMap(ProposalID.init))
    }

    private static func read(_ line: Range<Int>, of batch: RowBatch) -> (LogEntry, Int64)? {
        JSONReader.read(batch.text.span.extracting(line.lowerBound...), length: line.count) { reader in
            _ = reader.beginArrayText()
            guard reader.nextElement(), let distance = reader.integer(), RowBatch.distances.contains(distance),
                reader.nextElement(), let key = Key.read(from: &reader),
                reader.nextElement(), let version = reader.integer(),
                reader.nextElement(), let id = reader.string().flatMap(ProposalID.init),
                reader.nextElement(), let record = Self.readRecord(&reader),
                !reader.nextElement(), reader.finish() == nil
            else { return nil }
            return (LogEntry(key: key, version: LogVersion(version), id: id, record: record), batch.first &+ distance)
        }
    }

    /// Reads a record: JSON, or a text in a string.
    private static func readRecord(_ reader: inout JSONReader) -> [UInt8]? {
        let value = reader.rawValue()
        guard value.first == UInt8(ascii: "\"") else { return value }
        return JSONReader.read(copying: value) { $0.utf8() }
    }

    /// Writes changes, in the transaction of the caller.
    func write(_ changes: FleetChanges) throws(SQLiteFailure) {
        var inserted: [Insertion] = []
        var deleted: [Int64] = []
        // Records that were inserted and deleted by these changes.
        var replaced: Set<Int64> = []
        for row in changes.rows {
            switch row {
            case .insert(let number, let entry, let isJSON):
                inserted.append((number, entry, isJSON))
            case .delete(let number):
                if let first = inserted.first?.number, first <= number {
                    replaced.insert(number)
                } else {
                    deleted.append(number)
                }
            }
        }
        if !replaced.isEmpty { inserted.removeAll { replaced.contains($0.number) } }
        try deletion.run(deleted)
        try insert(inserted)
        guard let position = changes.position else { return try forget.run() }
        move.bind(position.version.number, at: 1)
        move.bind(position.id?.text, at: 2)
        try move.run()
    }

    /// Whether JSON can be a part of a line. A line has no line breaks; strings have them as escapes. The line is an array, so
    /// its JSON can have a level less than a text of its own. Brackets in strings count too: then the record is stored as a
    /// string, which any record can be.
    private static func fitsIntoLine(_ json: [UInt8]) -> Bool {
        var openings = 0
        for byte in json {
            switch byte {
            case UInt8(ascii: "\n"): return false
            case UInt8(ascii: "{"), UInt8(ascii: "["): openings += 1
            default: break
            }
        }
        return openings < JSONReader.depthLimit
    }

    private typealias Insertion = (number: Int64, entry: LogEntry, isJSON: Bool)

    private func insert(_ rows: [Insertion]) throws(SQLiteFailure) {
        // A span lends its elements.
        let rows = rows.span
        try insertion.run(
            rows.count,
            number: { rows[$0].number },
            write: { index, first, line in
                line.array { line in
                    line.element(rows[index].number - first)
                    rows[index].entry.key.withBytes { line.write(utf8: $0) }
                    line.element(rows[index].entry.version.number)
                    line.element(rows[index].entry.id.text)
                    let record = rows[index].entry.record ?? []
                    if rows[index].isJSON, Self.fitsIntoLine(record) {
                        line.element(raw: record)
                    } else {
                        line.write(utf8: record.span)
                    }
                }
            }
        )
    }
}
