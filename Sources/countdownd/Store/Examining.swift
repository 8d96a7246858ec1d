/// What is wrong with a file, as far as it can be told without changing it.
extension Schema {
    /// Up to here SQLite looks through the whole file at each start. Of a larger one only what is loaded is looked at: its
    /// start takes long enough.
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
        guard size <= Self.checkedWhole || version < self.version else { return nil }
        return try database.fault().map { .damaged($0) }
    }
}

extension Database {
    /// What SQLite finds wrong with how the pages hang together; nil where nothing is. Rows that break a constraint are
    /// told apart: they are judged as they are read.
    fileprivate func fault() throws(SQLiteFailure) -> String? {
        let findings = try prepare("PRAGMA quick_check(1)")
        guard try findings.step(), let finding = findings.text(0), finding.hasPrefix("*** in database") else {
            return nil
        }
        return finding.split(separator: "\n").dropFirst().joined(separator: ", ")
    }
}
