/// The tables of the store: those of the first version, and what has become of them since.
///
/// A released version stays as it is: what changes comes as a step behind it, and a store of each version is kept with the
/// tests (`Tests/Fixtures/stores`).
struct Schema: Sendable {
    /// What `PRAGMA application_id` says of our files: "cntd".
    static let applicationID: Int64 = 0x636e_7464

    /// SQL that makes the tables of version 1.
    let first: String
    /// SQL that leads from version 1 to 2, from 2 to 3, and so on, without transactions of its own.
    let steps: [String]
    /// What `PRAGMA user_version` says of a store with all the steps behind it.
    var version: Int64 { Int64(steps.count) + 1 }

    /// That of this daemon.
    static let current = Schema(first: firstTables, steps: [batches])

    /// Every change is a row of its own, appended under its revision; the row that it supersedes is deleted later, in
    /// small portions. So a live row counts where no later row has its key.
    private static let firstTables = """
        CREATE TABLE countdown (
            revision INTEGER PRIMARY KEY,
            key TEXT NOT NULL,
            state INTEGER NOT NULL,   -- 0 running, 1 paused, 2 finished, 3 cancelled, 4 ended and forgotten
            clock INTEGER NOT NULL,   -- 0 elapsed, 1 wall
            epoch INTEGER,            -- of a running elapsed one: the epoch of its instant
            instant INTEGER NOT NULL, -- in us: the deadline of a running one, the end of one that ended, what remains of a paused one
            rest INTEGER NOT NULL,    -- in us: how late it finished, what remained of a cancelled one
            length INTEGER NOT NULL,  -- in us
            started INTEGER NOT NULL, -- in us since 1970
            label TEXT,
            metadata TEXT,            -- a JSON object of strings
            forget INTEGER NOT NULL
        );
        -- A running elapsed countdown ends at instant + shift of its epoch, on CLOCK_BOOTTIME of the boot in daemon.
        CREATE TABLE epoch (
            id INTEGER PRIMARY KEY,
            shift INTEGER NOT NULL
        );
        -- Revisions of which nobody can know whether they were given to changes that are lost.
        CREATE TABLE gap (
            first INTEGER PRIMARY KEY,
            last INTEGER NOT NULL
        );
        -- One row: what the last daemon knew.
        CREATE TABLE daemon (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            revision INTEGER NOT NULL,       -- the newest when it was stopped
            oldest_revision INTEGER NOT NULL,
            step_revision INTEGER,           -- the newest when the system clock was set last
            boot TEXT NOT NULL,              -- /proc/sys/kernel/random/boot_id
            offset INTEGER NOT NULL,         -- CLOCK_REALTIME - CLOCK_BOOTTIME in us
            epoch INTEGER NOT NULL,          -- of the rows that are added
            is_stopped INTEGER NOT NULL      -- whether it was stopped, and nothing can be missing
        );
        \(eyes)
        """

    /// The view for a person's eyes.
    static let eyes = """
        CREATE VIEW countdowns AS
            SELECT countdown.revision, key, label,
                CASE state WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'finished' WHEN 3 THEN 'cancelled'
                    ELSE 'forgotten' END AS state,
                CASE clock WHEN 0 THEN 'elapsed' ELSE 'wall' END AS clock,
                datetime(started / 1000000, 'unixepoch', 'localtime') AS started,
                datetime(CASE
                    WHEN state = 0 AND clock = 0 THEN instant + epoch.shift + daemon.offset
                    WHEN state != 1 THEN instant END / 1000000, 'unixepoch', 'localtime') AS ends_or_ended,
                length / 1e6 AS length_s,
                CASE state WHEN 1 THEN instant / 1e6 WHEN 3 THEN rest / 1e6 END AS remaining_s,
                metadata
            FROM (SELECT *, max(revision) OVER (PARTITION BY key) AS newest FROM countdown) AS countdown
                JOIN daemon LEFT JOIN epoch ON epoch.id = countdown.epoch
            WHERE state IN (2, 3) OR state < 2 AND countdown.revision = newest;
        """
}
