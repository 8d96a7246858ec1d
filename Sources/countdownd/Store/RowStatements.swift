import CountdownCore
import Varlink

/// Adds the changes of a turn.
final class RowInsertion {
    private let statement: Statement
    /// Reused, so that its memory is allocated once.
    private var lines = JSONWriter()

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        statement = try database.prepare("INSERT INTO batch (first, changes) VALUES (?, ?)")
    }

    /// Adds changes, in the order of their revisions; `boot` is the number of this boot.
    func run(_ changes: [Change], boot: Int64) throws(SQLiteFailure) {
        // A span lends its elements; an array copies each one and counts its references.
        let changes = changes.span
        try run(changes.count, boot, &lines) { changes[$0].countdown }
    }

    /// Adds countdowns as they are, in the order of their revisions.
    func run(_ countdowns: [KeyedCountdown], boot: Int64) throws(SQLiteFailure) {
        let countdowns = countdowns.span
        try run(countdowns.count, boot, &lines) { countdowns[$0] }
    }

    @inline(__always)
    private func run(
        _ count: Int,
        _ boot: Int64,
        _ lines: inout JSONWriter,
        _ countdown: (Int) -> KeyedCountdown
    ) throws(SQLiteFailure) {
        var next = 0
        while next < count {
            let first = countdown(next).revision
            lines.removeAll()
            repeat {
                if !lines.isEmpty { lines.endLine() }
                Row.write(countdown(next), boot: boot, from: first, into: &lines)
                next += 1
            } while next < count && RowBatch.distances.contains(countdown(next).revision.number - first.number)
            try add(lines, from: first)
        }
    }

    private func add(_ lines: borrowing JSONWriter, from first: Revision) throws(SQLiteFailure) {
        statement.bind(first.number, at: 1)
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

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        find = try database.prepare("SELECT first, changes FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1")
        replace = try database.prepare("UPDATE batch SET changes = ?2 WHERE first = ?1")
        delete = try database.prepare("DELETE FROM batch WHERE first = ?")
    }

    /// Deletes the changes with these revisions; revisions that are missing are ignored.
    func run(_ revisions: [Revision]) throws(SQLiteFailure) {
        var left = revisions.sorted()[...]
        while let next = left.first {
            let count = left.count
            if let batch = try batch(below: next) { try takeOut(&left, of: batch) }
            if left.count == count { left.removeFirst() }
        }
    }

    private func takeOut(_ revisions: inout ArraySlice<Revision>, of batch: RowBatch) throws(SQLiteFailure) {
        let rest = batch.without(&revisions)
        guard rest.count < batch.bytes.count else { return }
        guard !rest.isEmpty else {
            delete.bind(batch.first, at: 1)
            return try delete.run()
        }
        replace.bind(batch.first, at: 1)
        try replace.run(with: rest.span, at: 2)
    }

    /// The batch that may contain a revision; nil if there is none.
    private func batch(below revision: Revision) throws(SQLiteFailure) -> RowBatch? {
        find.bind(revision.number, at: 1)
        defer { find.reset() }
        guard try find.step(), let first = find.integer(0) else { return nil }
        return RowBatch(first: first, bytes: find.bytes(1))
    }
}
