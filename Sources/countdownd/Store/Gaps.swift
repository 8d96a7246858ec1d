import CountdownCore

/// Revisions of which nobody can know whether they were given to changes that are lost.
struct Gaps {
    private(set) var ranges: [ClosedRange<Revision>] = []
    private var added: ClosedRange<Revision>?
    private var floor = Revision(0)

    /// A daemon that died may have told changes that were not stored. It cannot have told so many.
    private static let unstoredAtMost: Int64 = 1 << 20

    /// - Parameters:
    ///   - database: what was remembered in it is read.
    ///   - leftOut: takes the rows that cannot be ours.
    /// - Throws: what SQLite says.
    init(of database: borrowing Database, leavingOut leftOut: inout [LeftOut]) throws(SQLiteFailure) {
        let rows = try database.prepare("SELECT first, last FROM gap")
        while try rows.step() {
            guard let first = rows.integer(0).flatMap(Revision.init(stored:)),
                let last = rows.integer(1).flatMap(Revision.init(stored:)), first <= last
            else {
                leftOut.append(LeftOut(row: "of table gap", fault: "its revisions are no range", revision: nil))
                continue
            }
            ranges.append(first...last)
        }
    }

    /// Remembers that a daemon died after a revision.
    ///
    /// - Parameters:
    ///   - newest: the revision; it may have told some after it.
    ///   - clock: where revisions go on, unless that is too near or has passed.
    /// - Returns: the revision to go on after.
    mutating func add(after newest: Revision, clock: Revision) -> Revision {
        let next = max(clock, Revision(newest.number + Self.unstoredAtMost))
        let gap = Revision(newest.number + 1)...Revision(next.number - 1)
        added = gap
        ranges.append(gap)
        return next
    }

    /// Forgets those before a revision that nobody can resume from any more.
    mutating func drop(upTo oldest: Revision) {
        floor = oldest
        ranges.removeAll { $0.upperBound <= oldest }
    }

    func write(to database: borrowing Database) throws(SQLiteFailure) {
        if let added {
            let (first, last) = (added.lowerBound.number, added.upperBound.number)
            try database.execute("INSERT OR REPLACE INTO gap VALUES (\(first), \(last))")
        }
        try database.execute("DELETE FROM gap WHERE last <= \(floor.number)")
    }
}
