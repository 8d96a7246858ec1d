import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A file that is not a readable store")
final class QuarantineTests: StoreSuite {
    /// A file in the store's place, besides its description.
    enum Kind: CaseIterable {
        case randomBytes, shortText, headerAlone, foreign, foreignWithID, foreignWithLog, foreignWithJournal
        case newer, newerInLog, unreleased, otherColumns, withoutTable, versionZero, unknownFormat
        case cutOff, overwritten, leafTwice, brokenFreelist, emptyWithLog, logAlone, journalAlone
        case withoutDaemon, impossibleDaemon, withoutBoot, impossibleBoot

        var words: String {
            switch self {
            case .randomBytes, .shortText: "it is not an SQLite database"
            case .headerAlone: "its header is truncated"
            case .foreign, .foreignWithLog, .foreignWithJournal:
                "it is another program's SQLite database (application id 0)"
            case .foreignWithID: "it is another program's SQLite database (application id 7)"
            case .newer, .newerInLog: "its version 2 is from a newer countdownd; this one knows versions up to 1"
            case .otherColumns: "its table gap does not match version 1"
            case .withoutTable, .unreleased: "its table batch does not match version 1"
            case .versionZero: "its version is 0"
            case .unknownFormat: "its header is not one that SQLite writes"
            case .cutOff, .overwritten: "malformed"
            case .leafTwice: "it is damaged ("
            case .brokenFreelist: "freelist"
            case .emptyWithLog: "it is empty, although it has a log of changes"
            case .logAlone, .journalAlone: "but its database is missing"
            case .withoutDaemon: "table daemon is empty"
            case .impossibleDaemon: "the row of table daemon is malformed"
            case .withoutBoot: "table boot has no row for this boot"
            case .impossibleBoot: "a row of table boot is malformed"
            }
        }

        var advice: String {
            switch self {
            case .newer, .newerInLog: "upgrade countdownd"
            case .randomBytes, .shortText, .foreign, .foreignWithID, .foreignWithLog, .foreignWithJournal,
                .otherColumns, .withoutTable, .unreleased:
                "--state-directory"
            case .logAlone, .journalAlone: "with -wal appended"
            default: "to restore a backup"
            }
        }
    }

    /// A store of ours with countdowns; unless its daemon was stopped, the newest changes are in its log.
    private func leaveStore(stopped: Bool = true) throws {
        let keeper = try scene.open()
        for number in 0..<50 { try keeper.turn(.start("\(number)"), at: scene.now) }
        if stopped { keeper.stop() } else { try scene.crash() }
    }

    private func execute(_ sql: String) throws {
        try scene.connect().execute(sql)
    }

    private func write(_ bytes: [UInt8], at place: Int? = nil) throws {
        var data = place == nil ? Data() : try #require(scene.files["countdowns.db"])
        let place = place ?? 0
        data.replaceSubrange(place..<min(data.count, place + bytes.count), with: bytes)
        try data.write(to: URL(fileURLWithPath: scene.path))
    }

    private func prepare(_ kind: Kind) throws {
        var generator = SeededGenerator(seed: 1)
        switch kind {
        case .randomBytes: try write((0..<5_000).map { _ in .random(in: 0...255, using: &generator) })
        case .shortText: try write(Array("a list of countdowns".utf8))
        case .headerAlone:
            try leaveStore()
            unsafe truncate(scene.path, 99)
        case .foreign: try execute("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        case .foreignWithID: try execute("PRAGMA application_id = 7; CREATE TABLE countdown (revision)")
        case .foreignWithLog: try execute("PRAGMA journal_mode = WAL; CREATE TABLE a (b); INSERT INTO a VALUES (1)")
        case .foreignWithJournal: try prepareForeignJournal()
        case .newer:
            try leaveStore()
            try execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 2")
        case .newerInLog:
            try leaveStore()
            try execute("PRAGMA user_version = 2")
        case .otherColumns: try alter("ALTER TABLE gap ADD COLUMN other")
        case .withoutTable: try alter("DROP VIEW countdowns; DROP VIEW countdown; DROP TABLE batch")
        case .unreleased:
            try alter("DROP VIEW countdowns; DROP VIEW countdown; DROP TABLE batch; CREATE TABLE countdown (revision)")
        case .versionZero: try alter("PRAGMA user_version = 0")
        case .unknownFormat:
            try leaveStore()
            try write([3], at: 18)
        case .cutOff:
            try leaveStore()
            unsafe truncate(scene.path, 6_000)
        case .overwritten:
            try leaveStore()
            for page in 2..<10 { try write([UInt8](repeating: 0x5a, count: 1_024), at: page * 1_024) }
        case .leafTwice: try leaveLeafTwice()
        case .brokenFreelist:
            try leaveStore()
            try write([0, 0, 0, 3], at: 36)
        case .emptyWithLog:
            try leaveStore(stopped: false)
            unsafe truncate(scene.path, 0)
        case .logAlone:
            try leaveStore(stopped: false)
            unsafe unlink(scene.path)
        case .journalAlone: try Data("journal".utf8).write(to: URL(fileURLWithPath: scene.path + "-journal"))
        case .withoutDaemon: try alter("DELETE FROM daemon")
        case .impossibleDaemon: try alter("UPDATE daemon SET revision = 'newest'")
        case .withoutBoot: try alter("DELETE FROM boot")
        case .impossibleBoot: try alter("UPDATE boot SET shift = 9223372036854775807")
        }
    }

    /// A tree of readable pages, in which one page also stands for another one.
    private func leaveLeafTwice() throws {
        try leaveStore()
        let query = "SELECT rootpage FROM sqlite_schema WHERE name = 'batch'"
        let number = try scene.integer(query)
        let root = 1_024 * (Int(try #require(number)) - 1)
        let database = try #require(scene.files["countdowns.db"])
        let page = Array(database[root..<root + 1_024])
        try #require(page[0] == 5, "the root has leaves below it")
        let firstCell = Int(page[12]) << 8 | Int(page[13])
        try write(Array(page[firstCell..<firstCell + 4]), at: root + 8)
    }

    private func alter(_ sql: String) throws {
        try leaveStore(stopped: false)
        try execute(sql)
    }

    /// The files of another program that was killed during a change.
    private func prepareForeignJournal() throws {
        let writer = try scene.connect()
        try writer.execute("CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(100000)); PRAGMA cache_size = 1")
        try writer.execute("BEGIN IMMEDIATE; UPDATE a SET b = randomblob(100000)")
        try scene.crash()
        try #require(scene.files["countdowns.db-journal"] != nil)
    }

    @Test(
        "it is kept unchanged, with its log, under a name with the date, and a new store is created",
        arguments: Kind.allCases
    )
    func movesAside(_ kind: Kind) throws {
        try prepare(kind)
        let before = try scene.files.filter { !$0.key.hasSuffix("-shm") }
        let keeper = try scene.open()
        #expect(keeper.known.isEmpty)
        let after = try scene.files
        for (name, contents) in before where !contents.isEmpty {
            let kept = name.replacing("countdowns.db", with: "countdowns-unreadable-20250615T152320Z.db")
            #expect(after[kept] == contents, "\(name)")
        }
        try checkMessage(kind)

        try keeper.turn(.start("new"), at: scene.now)
        try scene.crash()
        #expect(try scene.open().known.map(\.key.text) == ["new"])
        #expect(scene.lines.all.count == 1)
    }

    private func checkMessage(_ kind: Kind) throws {
        let line = try #require(scene.lines.all.last)
        #expect(scene.lines.all.count == 1)
        #expect(line.hasPrefix("error: \(scene.path) cannot be read: "))
        #expect(line.contains(kind.words), "\(line)")
        #expect(line.contains("kept as \(scene.directory.path)/countdowns-unreadable-20250615T152320Z.db"), "\(line)")
        #expect(line.contains(kind.advice), "\(line)")
        #expect(!line.contains("\n"))
    }

    @Test("its new name is not taken, not even by a log that could be mistaken for its own")
    func names() throws {
        for suffix in ["", "-2", "-4"] {
            let log = suffix == "-2" ? "-wal" : ""
            try scene.directory.write("kept", to: "countdowns-unreadable-20250615T152320Z\(suffix).db\(log)")
        }
        try scene.directory.write("text", to: "countdowns.db")
        _ = try scene.open()
        let text = Data("text".utf8)
        #expect(try scene.files["countdowns-unreadable-20250615T152320Z-3.db"] == text)
        #expect(try scene.files.values.filter { $0 == Data("kept".utf8) }.count == 3)
    }

    @Test("it is recognised by its rows if SQLite finds no fault with its pages")
    func rowsInDisorder() throws {
        try leaveLeafTwice()
        let before = try scene.files["countdowns.db"]
        let database = try scene.connect()
        let failure = #expect(throws: SQLiteFailure.self) { _ = try scene.file().recovery.load(from: database) }
        #expect(failure?.description == "the rows of table batch are not in their order")
        #expect(failure?.isOfContents == true)
        #expect(try scene.files["countdowns.db"] == before)
    }

    @Test("it is complete under its new name if the daemon was killed while it renamed the files")
    func killedMeanwhile() throws {
        try prepare(.newerInLog)
        let database = try #require(scene.files["countdowns.db"])
        let log = try #require(scene.files["countdowns.db-wal"])
        let kept = scene.directory.path(of: "countdowns-unreadable-20250615T152319Z.db")
        // The log has both names while the database is renamed.
        unsafe link(scene.path + "-wal", kept + "-wal")
        unsafe rename(scene.path, kept)
        #expect(try scene.open().known.isEmpty)
        #expect(try scene.files["countdowns-unreadable-20250615T152319Z.db"] == database)
        #expect(try scene.files["countdowns-unreadable-20250615T152319Z.db-wal"] == log)
        #expect(try scene.files["countdowns-unreadable-20250615T152320Z.db-wal"] == log)
    }
}
