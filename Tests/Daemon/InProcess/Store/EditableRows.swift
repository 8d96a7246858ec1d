@testable import countdownd

/// Makes the view `countdown` writable for one connection: a test edits a row as a person would edit its line.
enum EditableRows {
    private static let columns = [
        "key", "state", "clock", "boot", "instant", "rest", "length", "started", "label", "metadata", "forget",
    ]

    /// The line with the new values.
    private static let newLine =
        "json_array(NEW.revision - first, "
        + columns.map { $0 == "metadata" ? "json(NEW.metadata)" : "NEW.\($0)" }.joined(separator: ", ") + ")"

    private static let lines = "json_each('[' || replace(changes, char(10), ',') || ']')"
    private static let isBatch = "first = (SELECT max(first) FROM batch WHERE first <= OLD.revision)"

    /// SQL that makes the view writable until the connection is closed.
    static let triggers = """
        CREATE TEMP TRIGGER row_updated INSTEAD OF UPDATE ON main.countdown BEGIN
            UPDATE batch SET changes = (
                SELECT group_concat(
                    CASE WHEN first + json_extract(value, '$[0]') = OLD.revision THEN \(newLine) ELSE value END, char(10)
                ) FROM \(lines)
            ) WHERE \(isBatch);
        END;
        CREATE TEMP TRIGGER row_deleted INSTEAD OF DELETE ON main.countdown BEGIN
            UPDATE batch SET changes = (
                SELECT ifnull(group_concat(value, char(10)), '') FROM \(lines)
                WHERE first + json_extract(value, '$[0]') != OLD.revision
            ) WHERE \(isBatch);
            DELETE FROM batch WHERE changes = '';
        END;
        """

    static func enable(in database: borrowing Database) throws {
        let views = try database.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = 'countdown'"
        )
        if views == 1 { try database.execute(triggers) }
    }
}
