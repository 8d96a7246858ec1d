/// The tables of the store: those of version 1, and the steps to later versions.
///
/// Until the first release version 1 changes in place, and a store with any other schema is quarantined like a foreign file.
/// After that a released version never changes; each change is a new step.
struct Schema: Sendable {
    /// The value of `PRAGMA application_id` in our files: "cntd".
    static let applicationID: Int64 = 0x636e_7464

    /// SQL that creates the tables of version 1.
    let first: String
    /// SQL that leads from version 1 to 2, from 2 to 3, and so on, without transactions of its own.
    let steps: [String]
    /// The value of `PRAGMA user_version` after all steps.
    var version: Int64 { Int64(steps.count) + 1 }

    /// The schema of this daemon.
    static let current = Schema(first: firstTables, steps: [])

    /// Each change is appended under its revision; the change that it replaces is deleted later, a few at a time. So a
    /// running or paused countdown counts if no later row has its key.
    private static let firstTables = """
        -- Changes, up to 16 of a turn in a row, each a line: a JSON array of the columns of the view countdown, but with the
        -- distance of the revision from `first`, 0 to 15, in place of the revision. The last three may be missing.
        CREATE TABLE batch (
            first INTEGER PRIMARY KEY,
            changes TEXT NOT NULL
        );
        -- The deadline of a running elapsed countdown is instant + shift of its boot, on CLOCK_BOOTTIME of the boot in daemon.
        CREATE TABLE boot (
            id INTEGER PRIMARY KEY,
            shift INTEGER NOT NULL
        );
        -- Revisions that may have been given to changes that are lost.
        CREATE TABLE gap (
            first INTEGER PRIMARY KEY,
            last INTEGER NOT NULL
        );
        -- One row: what the last daemon knew.
        CREATE TABLE daemon (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            revision INTEGER NOT NULL,       -- the newest when the daemon stopped
            oldest_revision INTEGER NOT NULL,
            step_revision INTEGER,           -- the newest when the system clock was last set
            boot_id TEXT NOT NULL,           -- /proc/sys/kernel/random/boot_id, with the offset of a time namespace
            offset INTEGER NOT NULL,         -- CLOCK_REALTIME - CLOCK_BOOTTIME in us
            boot INTEGER NOT NULL,          -- of the rows that are added
            is_stopped INTEGER NOT NULL      -- whether the daemon stopped cleanly, so that nothing can be missing
        );
        \(views)
        """

    /// Views for people; the daemon reads only tables.
    private static let views = """
        -- Every change, dead rows included.
        CREATE VIEW countdown AS
            SELECT first + json_extract(value, '$[0]') AS revision,
                json_extract(value, '$[1]') AS key,
                json_extract(value, '$[2]') AS state,    -- 0 running, 1 paused, 2 finished, 3 cancelled, 4 ended and forgotten
                json_extract(value, '$[3]') AS clock,    -- 0 elapsed, 1 wall
                json_extract(value, '$[4]') AS boot,    -- of a running elapsed countdown: the boot of its instant; null in a fleet
                json_extract(value, '$[5]') AS instant,  -- in us: the deadline, the end, or what remains of a paused one
                json_extract(value, '$[6]') AS rest,     -- in us: how late it finished, or what remained when cancelled
                json_extract(value, '$[7]') AS length,   -- in us
                json_extract(value, '$[8]') AS started,  -- in us since 1970
                json_extract(value, '$[9]') AS label,
                json_extract(value, '$[10]') AS metadata, -- a JSON object of strings
                ifnull(json_extract(value, '$[11]'), 0) AS forget
            FROM (SELECT first, '[' || replace(changes, char(10), ',') || ']' AS lines FROM batch),
                json_each(CASE WHEN json_valid(lines) THEN lines ELSE '[]' END);
        CREATE VIEW countdowns AS
            SELECT countdown.revision, key, label,
                CASE state WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'finished' WHEN 3 THEN 'cancelled'
                    ELSE 'forgotten' END AS state,
                CASE clock WHEN 0 THEN 'elapsed' ELSE 'wall' END AS clock,
                datetime(started / 1000000, 'unixepoch', 'localtime') AS started,
                datetime(CASE
                    WHEN state = 0 AND countdown.boot IS NOT NULL THEN instant + boot.shift + daemon.offset
                    WHEN state != 1 THEN instant END / 1000000, 'unixepoch', 'localtime') AS ends_or_ended,
                length / 1e6 AS length_s,
                CASE state WHEN 1 THEN instant / 1e6 WHEN 3 THEN rest / 1e6 END AS remaining_s,
                metadata
            FROM (SELECT *, max(revision) OVER (PARTITION BY key) AS newest FROM countdown) AS countdown
                JOIN daemon LEFT JOIN boot ON boot.id = countdown.boot
            WHERE state IN (2, 3) OR state < 2 AND countdown.revision = newest;
        """
}

/// Creating, upgrading and recognising the tables.
extension Schema {
    /// Creates all tables in an empty database, by the same steps that upgrade an old store.
    func create(in database: borrowing Database) throws(SQLiteFailure) {
        try database.execute("PRAGMA page_size = \(Database.pageSize)")
        try database.inTransaction { database throws(SQLiteFailure) in
            try database.execute(statements(upTo: version))
            try database.execute("PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(version)")
        }
    }

    /// Upgrades an older store, completely or not at all.
    func migrate(_ database: borrowing Database) throws(SQLiteFailure) {
        try database.inTransaction { database throws(SQLiteFailure) in
            for reached in try Self.version(of: database)..<version {
                do throws(SQLiteFailure) {
                    try database.execute(steps[Int(reached) - 1])
                } catch {
                    throw error.during("it cannot be upgraded from version \(reached) to \(reached + 1)")
                }
                try database.execute("PRAGMA user_version = \(reached + 1)")
            }
        }
    }

    static func version(of database: borrowing Database) throws(SQLiteFailure) -> Int64 {
        try database.integer("PRAGMA user_version") ?? 0
    }

    /// The first table that is missing, or has other columns than in that version; nil if all match. Other tables are
    /// ignored.
    func strangeTable(in database: borrowing Database, ofVersion version: Int64) throws(SQLiteFailure) -> String? {
        let model = try Database(path: ":memory:", busyMilliseconds: 0)
        try model.execute(statements(upTo: version))
        let tables = try model.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        while try tables.step() {
            guard let table = tables.text(0) else { continue }
            guard try Self.columns(of: table, in: database) == Self.columns(of: table, in: model) else { return table }
        }
        return nil
    }

    private func statements(upTo version: Int64) -> String {
        ([first] + steps.prefix(Int(version) - 1)).joined(separator: "\n")
    }

    private static func columns(of table: String, in database: borrowing Database) throws(SQLiteFailure) -> [String] {
        let columns = try database.prepare(
            "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk FROM pragma_table_xinfo(?) ORDER BY cid"
        )
        columns.bind(table, at: 1)
        var texts: [String] = []
        while try columns.step() { texts.append(columns.text(0) ?? "") }
        return texts
    }
}
