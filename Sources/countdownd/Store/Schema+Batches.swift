/// Version 2: what was the table `countdown` is a view, and lies in batches.
extension Schema {
    private static let columns = [
        "key", "state", "clock", "epoch", "instant", "rest", "length", "started", "label", "metadata", "forget",
    ]

    /// A row of version 1 as a line. JSON has no blobs, and none of our columns holds one: where somebody has written one
    /// all the same, an array takes its place, so that the row stays one that cannot be ours.
    private static let line: String = {
        let values = columns.map { column in
            let text = "CASE typeof(\(column)) WHEN 'blob' THEN json_array(hex(\(column))) ELSE \(column) END"
            guard column == "metadata" else { return text }
            return "CASE WHEN typeof(metadata) = 'text' AND json_valid(metadata) THEN json(metadata) ELSE \(text) END"
        }
        return "json_array(revision - first, \(values.joined(separator: ", ")))"
    }()

    /// The values of the line that a trigger of the view puts in the place of another.
    private static let newLine =
        "json_array(NEW.revision - first, "
        + columns.map { $0 == "metadata" ? "json(NEW.metadata)" : "NEW.\($0)" }.joined(separator: ", ") + ")"

    /// The columns of the view, from a line.
    private static let values =
        columns.enumerated().map { place, column in
            let value = "json_extract(value, '$[\(place + 1)]')"
            return (column == "forget" ? "ifnull(\(value), 0)" : value) + " AS \(column)"
        }
        .joined(separator: ", ")

    static let batches = """
        -- Changes, some of a turn to a row: each is a line, which is a JSON array of what the columns of the view countdown
        -- are, but for the revision: that is given as how far it is from `first`, 0 to 15. The last three may be left out.
        CREATE TABLE batch (
            first INTEGER PRIMARY KEY,
            changes TEXT NOT NULL
        );
        INSERT INTO batch
            SELECT first, changes FROM (
                SELECT revision, first, max(revision) OVER (PARTITION BY first) AS last,
                    group_concat(line, char(10)) OVER (PARTITION BY first ORDER BY revision) AS changes
                FROM (
                    SELECT revision, first, \(line) AS line
                    FROM (SELECT *, min(revision) OVER (PARTITION BY revision / 16) AS first FROM countdown)
                )
            )
            WHERE revision = last;
        DROP VIEW countdowns;
        DROP TABLE countdown;
        -- Every change as a row.
        CREATE VIEW countdown AS
            SELECT first + json_extract(value, '$[0]') AS revision, \(values)
            FROM batch, json_each(\(array(of: "changes")));
        CREATE TRIGGER countdown_updated INSTEAD OF UPDATE ON countdown BEGIN
            UPDATE batch
                SET changes = (
                    SELECT group_concat(
                        CASE WHEN first + json_extract(value, '$[0]') = OLD.revision THEN \(newLine) ELSE value END,
                        char(10)
                    )
                    FROM json_each(\(array(of: "changes")))
                )
                WHERE first = (SELECT max(first) FROM batch WHERE first <= OLD.revision);
        END;
        CREATE TRIGGER countdown_deleted INSTEAD OF DELETE ON countdown BEGIN
            UPDATE batch
                SET changes = (
                    SELECT ifnull(group_concat(value, char(10)), '')
                    FROM json_each(\(array(of: "changes")))
                    WHERE first + json_extract(value, '$[0]') != OLD.revision
                )
                WHERE first = (SELECT max(first) FROM batch WHERE first <= OLD.revision);
            DELETE FROM batch WHERE changes = '';
        END;
        \(eyes)
        """

    /// Lines as one array; none where one of them is no JSON.
    private static func array(of lines: String) -> String {
        let array = "'[' || replace(\(lines), char(10), ',') || ']'"
        return "CASE WHEN json_valid(\(array)) THEN \(array) ELSE '[]' END"
    }
}
