extension StoreFile {
    /// A connection to what was found to be a store, or nothing yet.
    struct Examined: ~Copyable {
        let database: Database
        let isEmpty: Bool
    }

    /// Opens what stands there, unless that is no store; where there is nothing, an empty file is made.
    ///
    /// Nothing of that changes by it, and the log stays, until the connection is told not to keep it; but SQLite takes
    /// back what a transaction had begun whose program has died.
    func examine() throws(Obstacle) -> Examined {
        let header = try DatabaseFiles(path: path).header()
        if let fault = header.flatMap(schema.fault(of:)) { throw .unreadable(fault) }
        let database = try attempt { () throws(SQLiteFailure) in
            try Database(path: path, busyMilliseconds: Database.patience, creating: header == nil)
        }
        // Until all of it is known to be readable.
        database.keepLogOnClose(true)
        // One that was being made when its daemon died is empty, once SQLite has taken back what was not whole.
        let isEmpty = try attempt { () throws(SQLiteFailure) in try database.integer("PRAGMA page_count") == 0 }
        if !isEmpty, let fault = try attempt({ () throws(SQLiteFailure) in try schema.fault(of: database) }) {
            throw .unreadable(fault)
        }
        return Examined(database: database, isEmpty: isEmpty)
    }

    /// Whether nothing stands there, or a store that has never had a countdown: of a daemon that was tried, say.
    ///
    /// Anything else stays as it is, its log too. Where it says yes, no log is left that would be taken for that of a
    /// store which comes.
    func holdsNothing() -> Bool {
        do throws(Obstacle) {
            if try DatabaseFiles(path: path).header() != nil {
                let examined = try examine()
                guard try hasNoRow(examined) else { return false }
                examined.database.keepLogOnClose(false)
            }
        } catch {
            return false
        }
        let files = DatabaseFiles(path: path)
        return [DatabaseFiles.Companion.log, .journal].allSatisfy { FileIdentity.status(of: files.path(of: $0)) == nil }
    }

    private func hasNoRow(_ examined: borrowing Examined) throws(Obstacle) -> Bool {
        guard !examined.isEmpty else { return true }
        return try attempt { () throws(SQLiteFailure) in
            try examined.database.integer("SELECT EXISTS (SELECT 1 FROM batch)") == 0
        }
    }
}

/// What is wrong with a file, as far as it can be told without changing it.
extension Schema {
    /// Up to here SQLite looks through the whole file at each start. Of a larger one the free pages are looked at, and what
    /// is loaded: its start takes long enough.
    private static let checkedWhole: Int64 = 16 << 20

    /// What keeps a file that begins so from being a store of this version or an older one; nil where nothing does.
    func fault(of header: DatabaseHeader) -> Unreadable? {
        guard header.isUsual else { return .damaged("its header is none that SQLite writes") }
        guard header.applicationID == Self.applicationID || header.hasLog else {
            return .ofAnotherProgram(applicationID: header.applicationID)
        }
        return header.userVersion > version ? .newer(version: header.userVersion, known: version) : nil
    }

    /// What keeps a database, with what is in its log, from being such a store; nil where nothing does.
    func fault(of database: borrowing Database) throws(SQLiteFailure) -> Unreadable? {
        let application = try database.integer("PRAGMA application_id") ?? 0
        guard application == Self.applicationID else { return .ofAnotherProgram(applicationID: application) }
        let version = try Self.version(of: database)
        guard version <= self.version else { return .newer(version: version, known: self.version) }
        guard version >= 1 else { return .damaged("its version is \(version)") }
        if let table = try strangeTable(in: database, ofVersion: version) {
            return .strange(table: table, version: version)
        }
        let size = (try database.integer("PRAGMA page_count") ?? 0) * (try database.integer("PRAGMA page_size") ?? 0)
        let isWhole = size <= Self.checkedWhole || version < self.version
        return try database.fault(inAll: isWhole).map { .damaged($0) }
    }
}

extension Database {
    /// What SQLite finds wrong with how the pages hang together; nil where nothing is.
    ///
    /// It looks at the free ones together with the table of the schema, and where there is a view, SQLite 3.40 looks at them
    /// with no other.
    fileprivate func fault(inAll: Bool) throws(SQLiteFailure) -> String? {
        if let finding = try finding(of: "PRAGMA quick_check(sqlite_schema)") { return finding }
        return inAll ? try finding(of: "PRAGMA quick_check(1)") : nil
    }

    /// Rows that break a constraint are told apart: they are judged as they are read.
    private func finding(of check: String) throws(SQLiteFailure) -> String? {
        let findings = try prepare(check)
        guard try findings.step(), let finding = findings.text(0), finding.hasPrefix("*** in database") else {
            return nil
        }
        return finding.split(separator: "\n").dropFirst().joined(separator: ", ")
    }
}
