import CountdownCore
import Varlink

/// Adds the changes of a turn to a table of batches.
final class RowInsertion {
    private let statement: Statement
    /// Reused, so that its memory is allocated once.
    private var lines = JSONWriter()

    init(_ database: borrowing Database, table: String = "batch") throws(SQLiteFailure) {
        statement = try database.prepare("INSERT INTO \(table) (first, changes) VALUES (?, ?)")
    }

    /// Adds changes, in the order of their revisions; `boot` is the number of this boot.
    func run(_ changes: [Change], boot: Int64) throws(SQLiteFailure) {
        // A span lends its elements; an array copies each one and counts its references.
        let changes = changes.span
        try run(
            changes.count,
            number: { changes[$0].countdown.revision.number },
            write: { index, first, line in Row.write(changes[index].countdown, boot: boot, from: first, into: &line) }
        )
    }

    /// Adds countdowns as they are, in the order of their revisions.
    func run(_ countdowns: [KeyedCountdown], boot: Int64) throws(SQLiteFailure) {
        let countdowns = countdowns.span
        try run(
            countdowns.count,
            number: { countdowns[$0].revision.number },
            write: { index, first, line in Row.write(countdowns[index], boot: boot, from: first, into: &line) }
        )
    }

    /// Adds lines in the order of their numbers.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - number: the number of the line at an index.
    ///   - write: writes the line at an index, as a JSON array that begins with the distance from the given first number.
    /// - Throws: SQLite's error.
    @inline(__always)
    func run(
        _ count: Int,
        number: (Int) -> Int64,
        write: (Int, Int64, inout JSONWriter) -> Void
    ) throws(SQLiteFailure) {
        var next = 0
        while next < count {
            let first = number(next)
            lines.removeAll()
            repeat {
                if !lines.isEmpty { lines.endLine() }
                write(next, first, &lines)
                next += 1
            } while next < count && RowBatch.distances.contains(number(next) - first)
            try add(first)
        }
    }

    private func add(_ first: Int64) throws(SQLiteFailure) {
        statement.bind(first, at: 1)
        try lines.withBytes { lines throws(SQLiteFailure) in
            try statement.run(with: lines, at: 2)
        }
    }
}

/// Deletes changes from their batches.
final class RowDeletion {
    private let find: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ database: borrowing Database, table: String = "batch") throws(SQLiteFailure) {
        find = try database.prepare("SELECT first, changes FROM \(table) WHERE first <= ? ORDER BY first DESC LIMIT 1")
        replace = try database.prepare("UPDATE \(table) SET changes = ?2 WHERE first = ?1")
        delete = try database.prepare("DELETE FROM \(table) WHERE first = ?")
    }

    /// Deletes the changes with these numbers; numbers that are missing are ignored.
    func run(_ numbers: [Int64]) throws(SQLiteFailure) {
        var left = numbers.sorted()[...]
        while let next = left.first {
            let count = left.count
            if let batch = try batch(below: next) { try takeOut(&left, of: batch) }
            if left.count == count { left.removeFirst() }
        }
    }

    private func takeOut(_ numbers: inout ArraySlice<Int64>, of batch: RowBatch) throws(SQLiteFailure) {
        let rest = batch.without(&numbers)
        guard rest.count < batch.bytes.count else { return }
        guard !rest.isEmpty else {
            delete.bind(batch.first, at: 1)
            return try delete.run()
        }
        replace.bind(batch.first, at: 1)
        try replace.run(with: rest.span, at: 2)
    }

    /// The batch that may contain a change; nil if no batch can.
    private func batch(below number: Int64) throws(SQLiteFailure) -> RowBatch? {
        find.bind(number, at: 1)
        defer { find.reset() }
        guard try find.step(), let first = find.integer(0) else { return nil }
        return RowBatch(first: first, bytes: find.bytes(1))
    }
}
