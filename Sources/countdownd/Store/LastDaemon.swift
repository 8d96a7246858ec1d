import CountdownCore

/// The one row of table `daemon`: what the last daemon knew.
struct LastDaemon {
    var revision: Revision
    var oldest: Revision
    /// The newest revision when the system clock was set last, nil where that is not known to have happened.
    var stepRevision: Revision?
    var boot: String
    var offset: Duration
    /// That of the rows that were added.
    var epoch: Int64
    /// Whether it was stopped, and nothing can be missing.
    var wasStopped: Bool

    private static let columns = "revision, oldest_revision, step_revision, boot, offset, epoch, is_stopped"

    /// - Returns: nil where no daemon has had the store yet.
    /// - Throws: where the row cannot be one of ours, too: what all the others mean hangs on it.
    static func read(from database: borrowing Database) throws(SQLiteFailure) -> LastDaemon? {
        let strange = SQLiteFailure.corrupt("the row of table daemon cannot be one of countdownd's")
        let row = try database.prepare("SELECT \(columns) FROM daemon")
        guard try row.step() else { return nil }
        guard let revision = row.integer(0).flatMap(Revision.init(stored:)),
            let oldest = row.integer(1).flatMap(Revision.init(stored:)),
            let boot = row.text(3),
            let offset = row.integer(4), Row.isPossible(offset),
            let epoch = row.integer(5), Row.isPossible(epoch),
            let isStopped = row.integer(6)
        else { throw strange }
        let step = row.integer(2).flatMap(Revision.init(stored:))
        guard step != nil || row.isNull(2) else { throw strange }
        return LastDaemon(
            revision: revision,
            oldest: oldest,
            stepRevision: step,
            boot: boot,
            offset: Duration(microseconds: offset),
            epoch: epoch,
            wasStopped: isStopped != 0
        )
    }

    /// Puts the row in the place of that which was there.
    func write(to database: borrowing Database) throws(SQLiteFailure) {
        let row = try database.prepare(
            "INSERT OR REPLACE INTO daemon (id, \(Self.columns)) VALUES (1, ?, ?, ?, ?, ?, ?, ?)"
        )
        row.bind(revision.number, at: 1)
        row.bind(oldest.number, at: 2)
        row.bind(stepRevision?.number, at: 3)
        row.bind(boot, at: 4)
        row.bind(offset.microseconds, at: 5)
        row.bind(epoch, at: 6)
        row.bind(wasStopped ? 1 : 0, at: 7)
        try row.run()
    }
}
