import CountdownCore

/// The clocks that stored instants of elapsed countdowns are measured on: one for each boot in which any was begun.
///
/// An instant on the clock of a boot that is over is the wall-clock time that it would have had there.
struct Epochs {
    /// That of the rows that are added in this boot.
    let current: Int64
    /// By how much the instants of an epoch are moved onto this boot's clock.
    private let shifts: [Int64: Duration]
    /// By how much those of all earlier boots are moved now; nil where this is the boot of the last daemon.
    private let moved: Duration?

    /// Reads the epochs, as they are in this boot.
    ///
    /// - Parameters:
    ///   - database: they are read, and not changed yet.
    ///   - last: what the last daemon knew; nil where there was none.
    ///   - isSameBoot: whether this is still its boot.
    ///   - now: for the offset of the clocks.
    /// - Throws: where they cannot be those that a daemon has left, too.
    init(
        of database: borrowing Database,
        last: LastDaemon?,
        isSameBoot: Bool,
        now: Now
    ) throws(SQLiteFailure) {
        let stored = try Self.read(from: database)
        guard isSameBoot, let last else {
            let moved = last.map { $0.offset - now.offset } ?? .zero
            shifts = stored.mapValues { $0 + moved }
            self.moved = moved
            current = (stored.keys.max() ?? 0) + 1
            return
        }
        guard stored[last.epoch] == .zero else { throw .corrupt("table epoch has no row for this boot") }
        (shifts, moved, current) = (stored, nil, last.epoch)
    }

    /// Nil where there is no such epoch.
    subscript(_ epoch: Int64) -> Duration? { shifts[epoch] }

    /// Stores what is new.
    ///
    /// - Parameters:
    ///   - database: in which it is stored.
    ///   - used: the epochs of earlier boots that are still needed; nil where that is not known of all of them.
    /// - Throws: what SQLite says.
    func write(to database: borrowing Database, keeping used: Set<Int64>?) throws(SQLiteFailure) {
        guard let moved else { return }
        for epoch in shifts.keys where used?.contains(epoch) == false {
            try database.execute("DELETE FROM epoch WHERE id = \(epoch)")
        }
        try database.execute(
            """
            UPDATE epoch SET shift = shift + \(moved.microseconds);
            INSERT INTO epoch VALUES (\(current), 0);
            """
        )
    }

    private static func read(from database: borrowing Database) throws(SQLiteFailure) -> [Int64: Duration] {
        let rows = try database.prepare("SELECT id, shift FROM epoch")
        var shifts: [Int64: Duration] = [:]
        while try rows.step() {
            guard let id = rows.integer(0), let shift = rows.integer(1), [id, shift].allSatisfy(Row.isPossible)
            else {
                throw .corrupt("a row of table epoch cannot be one of countdownd's")
            }
            shifts[id] = Duration(microseconds: shift)
        }
        return shifts
    }
}
