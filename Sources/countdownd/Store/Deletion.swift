import CountdownCore

/// Takes changes that count no more out of their batches.
final class Deletion {
    private let find: Statement
    private let replace: Statement
    private let delete: Statement

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        find = try database.prepare("SELECT first, changes FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1")
        replace = try database.prepare("UPDATE batch SET changes = ?2 WHERE first = ?1")
        delete = try database.prepare("DELETE FROM batch WHERE first = ?")
    }

    /// Takes the changes of these revisions out; one that is not there any more is nobody's loss.
    func run(_ revisions: [Revision]) throws(SQLiteFailure) {
        var left = revisions.sorted()[...]
        while let next = left.first {
            let count = left.count
            if let batch = try batch(below: next) { try takeOut(&left, of: batch) }
            if left.count == count { left.removeFirst() }
        }
    }

    private func takeOut(_ revisions: inout ArraySlice<Revision>, of batch: Batch) throws(SQLiteFailure) {
        let rest = batch.without(&revisions)
        guard rest.count < batch.bytes.count else { return }
        guard !rest.isEmpty else {
            delete.bind(batch.first, at: 1)
            return try delete.run()
        }
        replace.bind(batch.first, at: 1)
        try replace.run(with: rest.span, at: 2)
    }

    /// The batch that has the change of a revision, where one has.
    private func batch(below revision: Revision) throws(SQLiteFailure) -> Batch? {
        find.bind(revision.number, at: 1)
        defer { find.reset() }
        guard try find.step(), let first = find.integer(0) else { return nil }
        return Batch(first: first, bytes: find.bytes(1))
    }
}
