/// The statements of a store, prepared once.
struct Statements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement
    let insertion: Insertion
    let deletion: Deletion
    let keepStep: Statement
    let markStopped: Statement
    let keepOldest: Statement
    let stop: Statement

    init(_ database: borrowing Database) throws(SQLiteFailure) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        rollback = try database.prepare("ROLLBACK")
        insertion = try Insertion(database)
        deletion = try Deletion(database)
        keepStep = try database.prepare("UPDATE daemon SET offset = ?, step_revision = ?")
        markStopped = try database.prepare("UPDATE daemon SET is_stopped = ?")
        keepOldest = try database.prepare("UPDATE daemon SET oldest_revision = ?")
        stop = try database.prepare("UPDATE daemon SET revision = ?, oldest_revision = ?, is_stopped = 1")
    }
}
