-- A store as version 2 left it when its daemon was killed, with a row of every kind. Released: it stays as it is.
-- The clocks: CLOCK_BOOTTIME 5,000 s, the system clock 2026-03-01 12:00:00 UTC; the machine was started again once before.
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1668183140;
PRAGMA user_version = 2;
BEGIN;
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
CREATE TABLE batch (
    first INTEGER PRIMARY KEY,
    changes TEXT NOT NULL
);
CREATE VIEW countdown AS
    SELECT first + json_extract(value, '$[0]') AS revision, json_extract(value, '$[1]') AS key, json_extract(value, '$[2]') AS state, json_extract(value, '$[3]') AS clock, json_extract(value, '$[4]') AS epoch, json_extract(value, '$[5]') AS instant, json_extract(value, '$[6]') AS rest, json_extract(value, '$[7]') AS length, json_extract(value, '$[8]') AS started, json_extract(value, '$[9]') AS label, json_extract(value, '$[10]') AS metadata, ifnull(json_extract(value, '$[11]'), 0) AS forget
    FROM batch, json_each(CASE WHEN json_valid('[' || replace(changes, char(10), ',') || ']') THEN '[' || replace(changes, char(10), ',') || ']' ELSE '[]' END);
CREATE TRIGGER countdown_updated INSTEAD OF UPDATE ON countdown BEGIN
    UPDATE batch
        SET changes = (
            SELECT group_concat(
                CASE WHEN first + json_extract(value, '$[0]') = OLD.revision THEN json_array(NEW.revision - first, NEW.key, NEW.state, NEW.clock, NEW.epoch, NEW.instant, NEW.rest, NEW.length, NEW.started, NEW.label, json(NEW.metadata), NEW.forget) ELSE value END,
                char(10)
            )
            FROM json_each(CASE WHEN json_valid('[' || replace(changes, char(10), ',') || ']') THEN '[' || replace(changes, char(10), ',') || ']' ELSE '[]' END)
        )
        WHERE first = (SELECT max(first) FROM batch WHERE first <= OLD.revision);
END;
CREATE TRIGGER countdown_deleted INSTEAD OF DELETE ON countdown BEGIN
    UPDATE batch
        SET changes = (
            SELECT ifnull(group_concat(value, char(10)), '')
            FROM json_each(CASE WHEN json_valid('[' || replace(changes, char(10), ',') || ']') THEN '[' || replace(changes, char(10), ',') || ']' ELSE '[]' END)
            WHERE first + json_extract(value, '$[0]') != OLD.revision
        )
        WHERE first = (SELECT max(first) FROM batch WHERE first <= OLD.revision);
    DELETE FROM batch WHERE changes = '';
END;
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
-- Each as the turns wrote them, but for what was taken out of a batch since: 1772359000000008 and ...009.
INSERT INTO batch VALUES
    -- ended: at its deadline, told late after an outage, by Finish, by Cancel
    -- running: elapsed, begun in the boot before; elapsed, of which an earlier row is still there; not to be kept
    (1772359000000001,
     '[0,"tea",2,0,null,1772358900000000,417,300000000,1772358600000000,"Tea",null,0]' || char(10) ||
     '[1,"bread",2,1,null,1772358950000000,7200000000,3600000000,1772355350000000]' || char(10) ||
     '[2,"bread",2,0,null,1772358960000000,0,60000000,1772358955000000]' || char(10) ||
     '[3,"call/Åsa",3,0,null,1772358970000000,12345678,90000000,1772358892345678,null,{"emoji":"☎️","to":"Åsa"},0]' || char(10) ||
     '[4,"long",0,0,1,145600000000,0,86400000000,1772350600000000,"長い",null,0]' || char(10) ||
     '[5,"code",0,0,1,75100000000,0,60000000,1772358980000000]' || char(10) ||
     '[6,"limit",0,0,1,75010000000,0,10000000,1772358990000000,null,null,1]'),
    -- running: again; wall; not to be kept
    (1772366000000001,
     '[0,"code",0,0,2,5060000000,0,60000000,1772366400000000,"again",{"a\"b":"\u0001"},0]' || char(10) ||
     '[1,"meeting",0,1,null,1772370000000000,0,3600000000,1772366400000000,"",null,0]' || char(10) ||
     '[2,"attempt",0,0,2,5003000000,0,3000000,1772366400000000,null,null,1]'),
    -- paused
    (1772366000000004, '[0,"pause",1,0,null,42000000,0,60000000,1772366382000000]'),
    -- ended and forgotten: it takes the row before it along
    (1772366000000005, '[0,"limit",4,0,null,1772366401000000,0,10000000,1772358990000000,null,null,1]');
COMMIT;
