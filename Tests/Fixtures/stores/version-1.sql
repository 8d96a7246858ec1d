-- A store as version 1 left it when its daemon was killed, with a row of every kind. Released: it stays as it is.
-- The clocks: CLOCK_BOOTTIME 5,000 s, the system clock 2026-03-01 12:00:00 UTC; the machine was started again once before.
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1668183140;
PRAGMA user_version = 1;
BEGIN;
CREATE TABLE countdown (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    state INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    epoch INTEGER,
    instant INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    length INTEGER NOT NULL,
    started INTEGER NOT NULL,
    label TEXT,
    metadata TEXT,
    forget INTEGER NOT NULL
);
CREATE TABLE epoch (
    id INTEGER PRIMARY KEY,
    shift INTEGER NOT NULL
);
CREATE TABLE gap (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
);
CREATE TABLE daemon (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,
    oldest_revision INTEGER NOT NULL,
    step_revision INTEGER,
    boot TEXT NOT NULL,
    offset INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL
);
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
INSERT INTO epoch VALUES (1, -70000000000), (2, 0);
INSERT INTO gap VALUES (1772359000000010, 1772366000000000);
INSERT INTO daemon VALUES
    (1, 1772359000000009, 1772358000000000, 1772359000000004,
     '0b6b2a1c-7c9e-4f43-8d7a-2f1a5d8c4e11', 1772361400000000, 2, 0);
INSERT INTO countdown VALUES
    -- ended: at its deadline, told late after an outage, by Finish, by Cancel
    (1772359000000001, 'tea',       2, 0, NULL, 1772358900000000,         417,   300000000, 1772358600000000, 'Tea', NULL, 0),
    (1772359000000002, 'bread',     2, 1, NULL, 1772358950000000, 7200000000,  3600000000, 1772355350000000, NULL, NULL, 0),
    (1772359000000003, 'bread',     2, 0, NULL, 1772358960000000,           0,    60000000, 1772358955000000, NULL, NULL, 0),
    (1772359000000004, 'call/Åsa',  3, 0, NULL, 1772358970000000,    12345678,    90000000, 1772358892345678, NULL, '{"to":"Åsa","emoji":"☎️"}', 0),
    -- running: elapsed, begun in the boot before; elapsed, of which an earlier row is still there; wall; not to be kept
    (1772359000000005, 'long',      0, 0, 1,        145600000000,           0, 86400000000, 1772350600000000, '長い', NULL, 0),
    (1772359000000006, 'code',      0, 0, 1,         75100000000,           0,    60000000, 1772358980000000, NULL, NULL, 0),
    (1772359000000007, 'limit',     0, 0, 1,         75010000000,           0,    10000000, 1772358990000000, NULL, NULL, 1),
    (1772366000000001, 'code',      0, 0, 2,          5060000000,           0,    60000000, 1772366400000000, 'again', '{"a\"b":"\u0001"}', 0),
    (1772366000000002, 'meeting',   0, 1, NULL, 1772370000000000,           0,  3600000000, 1772366400000000, '', NULL, 0),
    (1772366000000003, 'attempt',   0, 0, 2,          5003000000,           0,     3000000, 1772366400000000, NULL, NULL, 1),
    -- paused
    (1772366000000004, 'pause',     1, 0, NULL,        42000000,            0,    60000000, 1772366382000000, NULL, NULL, 0),
    -- ended and forgotten: it takes the row before it along
    (1772366000000005, 'limit',     4, 0, NULL, 1772366401000000,           0,    10000000, 1772358990000000, NULL, NULL, 1);
COMMIT;
