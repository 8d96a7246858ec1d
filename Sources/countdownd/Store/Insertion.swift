import CountdownCore

/// Adds the rows of a turn.
///
/// A row whose revision follows that of the newest row is appended: SQLite gives it the next number and need not look
/// whether there is such a row, and a statement that appends many keeps its place at the end of the table.
final class Insertion {
    private static let many = 16

    /// For a row that does not follow: its revision is bound behind the others.
    private let placeOne: Statement
    private let appendOne: Statement
    private let appendMany: Statement
    /// The keys of the rows that are being added, one after the other, and where each of them ends.
    private var keys: [UInt8] = []
    private var ends: [Int] = []

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        placeOne = try database.prepare(Self.sql("\(Row.columns), revision", count: Row.columnCount + 1, rows: 1))
        appendOne = try database.prepare(Self.sql(Row.columns, count: Row.columnCount, rows: 1))
        appendMany = try database.prepare(Self.sql(Row.columns, count: Row.columnCount, rows: Self.many))
    }

    private static func sql(_ columns: String, count: Int32, rows: Int) -> String {
        let row = "(" + repeatElement("?", count: Int(count)).joined(separator: ", ") + ")"
        return "INSERT INTO countdown (\(columns)) VALUES " + repeatElement(row, count: rows).joined(separator: ", ")
    }

    /// Adds a row for each change, in the order of their revisions, where the newest row has the given one; the epoch is
    /// that of the boot that the daemon runs in.
    func run(_ changes: [Change], after newest: Revision, epoch: Int64) throws(SQLiteFailure) {
        var (first, newest) = (0, newest)
        while first < changes.count {
            let (statement, count) = choose(changes, first, after: newest)
            if statement === placeOne {
                placeOne.bind(changes[first].countdown.revision.number, at: Row.columnCount + 1)
            }
            try add(changes, first..<first + count, epoch: epoch, with: statement)
            first += count
            newest = changes[first - 1].countdown.revision
        }
    }

    /// The statement for what comes next, and how many rows it adds.
    private func choose(_ changes: [Change], _ first: Int, after newest: Revision) -> (Statement, count: Int) {
        func isNext(_ index: Int, _ distance: Int) -> Bool {
            changes[index].countdown.revision.number == newest.number + Int64(distance)
        }
        guard isNext(first, 1) else { return (placeOne, 1) }
        let last = first + Self.many - 1
        // Revisions only grow: where the last is as far as there are rows, so is each between.
        return last < changes.count && isNext(last, Self.many) ? (appendMany, Self.many) : (appendOne, 1)
    }

    private func add(
        _ changes: [Change],
        _ range: Range<Int>,
        epoch: Int64,
        with statement: Statement
    ) throws(SQLiteFailure) {
        keys.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        var parameter: Int32 = 1
        for index in range {
            Row(changes[index].countdown, epoch: epoch).bind(to: statement, from: parameter)
            changes[index].countdown.key.append(to: &keys)
            ends.append(keys.count)
            parameter += Row.columnCount
        }
        try statement.bind(keys, ends: ends, at: 1, step: Row.columnCount) { () throws(SQLiteFailure) in
            try statement.run()
        }
    }
}
