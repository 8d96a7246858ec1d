/// How a database comes to have the tables, and how one is known to have them.
extension Schema {
    /// Makes the tables in an empty database, all or none; the same steps lead there that old stores go through.
    func create(in database: borrowing Database) throws(SQLiteFailure) {
        try database.execute("PRAGMA page_size = 1024")
        try database.inTransaction { database throws(SQLiteFailure) in
            try database.execute(statements(upTo: version))
            try database.execute("PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(version)")
        }
    }

    /// Brings a store of an older version to this one, all the way or not at all.
    func migrate(_ database: borrowing Database) throws(SQLiteFailure) {
        try database.inTransaction { database throws(SQLiteFailure) in
            for reached in try Self.version(of: database)..<version {
                do throws(SQLiteFailure) {
                    try database.execute(steps[Int(reached) - 1])
                } catch {
                    throw error.met("it cannot be brought from version \(reached) to \(reached + 1)")
                }
                try database.execute("PRAGMA user_version = \(reached + 1)")
            }
        }
    }

    static func version(of database: borrowing Database) throws(SQLiteFailure) -> Int64 {
        try database.integer("PRAGMA user_version") ?? 0
    }

    /// The first table that is missing in a database, or has other columns than in that version; nil where all is as it
    /// should be. Tables besides ours are nobody's concern.
    func strangeTable(in database: borrowing Database, ofVersion version: Int64) throws(SQLiteFailure) -> String? {
        let model = try Database(path: ":memory:", busyMilliseconds: 0)
        try model.execute(statements(upTo: version))
        let tables = try model.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        while try tables.step() {
            guard let table = tables.text(0) else { continue }
            guard try Self.columns(of: table, in: database) == Self.columns(of: table, in: model) else { return table }
        }
        return nil
    }

    private func statements(upTo version: Int64) -> String {
        ([first] + steps.prefix(Int(version) - 1)).joined(separator: "\n")
    }

    private static func columns(of table: String, in database: borrowing Database) throws(SQLiteFailure) -> [String] {
        let columns = try database.prepare(
            "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk FROM pragma_table_xinfo(?) ORDER BY cid"
        )
        columns.bind(table, at: 1)
        var texts: [String] = []
        while try columns.step() { texts.append(columns.text(0) ?? "") }
        return texts
    }
}
