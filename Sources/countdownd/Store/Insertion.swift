import CountdownCore
import Varlink

/// Adds the changes of a turn.
final class Insertion {
    private let statement: Statement
    /// Kept for its memory.
    private var lines = JSONWriter()

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        statement = try database.prepare("INSERT INTO batch (first, changes) VALUES (?, ?)")
    }

    /// Adds changes, in the order of their revisions; the epoch is that of the boot that the daemon runs in.
    func run(_ changes: [Change], epoch: Int64) throws(SQLiteFailure) {
        var next = 0
        while next < changes.count {
            let first = changes[next].countdown.revision
            lines.removeAll()
            repeat {
                if !lines.isEmpty { lines.endLine() }
                Row(changes[next].countdown, epoch: epoch).encode(into: &lines, from: first)
                next += 1
            } while next < changes.count && Self.shares(changes[next], from: first)
            try add(from: first)
        }
    }

    /// Whether a change has its place in a batch that counts from a revision.
    private static func shares(_ change: Change, from first: Revision) -> Bool {
        Batch.distances.contains(change.countdown.revision.number - first.number)
    }

    private func add(from first: Revision) throws(SQLiteFailure) {
        statement.bind(first.number, at: 1)
        try lines.withBytes { lines throws(SQLiteFailure) in
            try statement.run(with: lines, at: 2)
        }
    }
}
