import CountdownCore
import Testing

@testable import countdownd

@Suite("A row that no countdownd writes")
struct WrongRowTests {
    private let scene: StoreScene

    init() throws {
        scene = try StoreScene()
        scene.policy.history = 10
        do {
            let keeper = try scene.open()
            try keeper.turn(.start("first"), .start("wrong"), .start("last"), at: scene.now)
        }
    }

    private func execute(_ sql: String) throws {
        let database = try scene.connect()
        try database.execute(sql)
    }

    private func changeSchema(_ replacement: String) throws {
        try execute("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, \(replacement))")
    }

    /// What may be wrong in one, and what is said of it.
    private static let faults: [(change: String, words: String)] = [
        ("key = ''", "its key is none"),
        ("key = CAST(x'ff' AS TEXT)", "its key is none"),
        ("key = x'746561'", "its key is none"),
        ("key = 'te' || char(10) || 'a'", "its key is none"),
        ("key = printf('%.256c', 'k')", "its key is none"),
        ("state = 5", "its state is not known"),
        ("state = 'running'", "its state is not known"),
        ("clock = 2", "its clock is not known"),
        ("epoch = NULL", "its epoch is not known"),
        ("epoch = 77", "its epoch is not known"),
        ("instant = 1.5", "its instant is no number of microseconds"),
        ("instant = 9223372036854775807", "its instant is no number of microseconds"),
        ("state = 1, instant = -1", "its instant is less than 0"),
        ("rest = -1", "its rest is less than 0"),
        ("length = 0", "its length is less than 1"),
        ("length = -5", "its length is less than 1"),
        ("started = 'then'", "its started is no number of microseconds"),
        ("label = CAST(x'c328' AS TEXT)", "its label is no text in UTF-8"),
        ("label = x'6c'", "its label is no text in UTF-8"),
        ("metadata = '{'", "its metadata is no JSON object of strings"),
        ("metadata = '{\"a\":1}'", "its metadata is no JSON object of strings"),
        ("metadata = 'null'", "its metadata is no JSON object of strings"),
        ("metadata = CAST(x'ff' AS TEXT)", "its metadata is no text in UTF-8"),
        ("forget = 'no'", "its forget is no number of microseconds"),
        ("revision = 9007199254740991", "no change can have that revision"),
        ("revision = -9223372036854775808", "no change can have that revision"),
        ("revision = 0", "no change can have that revision"),
    ]

    @Test("is not served and is named, stays in its table, and takes nothing else along", arguments: faults)
    func leftOut(change: String, words: String) throws {
        try execute("UPDATE countdown SET \(change) WHERE key = 'wrong'")
        let revision = try scene.integer("SELECT max(revision) FROM countdown WHERE key NOT IN ('first', 'last')")
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == ["first", "last"])
            let line = try #require(scene.lines.all.last)
            #expect(line.hasPrefix("error: \(scene.path): a row is not served and left as it is"), "\(line)")
            #expect(line.hasSuffix("with revision \(revision ?? 0): \(words)"), "\(line)")
        }
        #expect(try scene.integer("SELECT count(*) FROM countdown") == 3)
    }

    @Test("is not served where it has no key, though the table does not allow that")
    func withoutKey() throws {
        try changeSchema("'key TEXT NOT NULL', 'key TEXT'")
        try execute("UPDATE countdown SET key = NULL WHERE key = 'wrong'")
        try changeSchema("'key TEXT', 'key TEXT NOT NULL'")
        #expect(try scene.open().known.map(\.key.text) == ["first", "last"])
        #expect(try #require(scene.lines.all.last).contains("its key is none"))
    }

    @Test("is served again once it has been put right")
    func mended() throws {
        try execute("UPDATE countdown SET state = 9 WHERE key = 'wrong'")
        #expect(try scene.open()["wrong"] == nil)
        try execute("UPDATE countdown SET state = 0 WHERE key = 'wrong'")
        #expect(try scene.open().known.map(\.key.text) == ["first", "wrong", "last"])
        #expect(scene.lines.all.count == 1)
    }

    @Test("of several the first is named, with how many there are")
    func several() throws {
        try execute("UPDATE countdown SET length = 0")
        #expect(try scene.open().known.isEmpty)
        let line = try #require(scene.lines.all.last)
        #expect(line.contains("3 rows are not served and left as they are"))
        #expect(line.hasSuffix("its length is less than 1"))
    }

    @Test("hides what its key was before, as that is over whatever the row was to say; a later one is served")
    func hides() throws {
        try execute(
            """
            INSERT INTO countdown SELECT revision + 10, key, 9, clock, epoch, instant, rest, length, started, label,
                metadata, forget FROM countdown WHERE key = 'first'
            """
        )
        do {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == ["wrong", "last"])
            try keeper.turn(.start("first"), at: scene.now)
        }
        #expect(try scene.open().known.map(\.key.text) == ["wrong", "last", "first"])
    }

    @Test("keeps everybody from resuming from before it, as what it said cannot be told")
    func resuming() throws {
        do {
            let keeper = try scene.open()
            for number in 0..<10 { try keeper.turn(.start("\(number)"), .cancel(Key("\(number)")), at: scene.now) }
            try keeper.turn(.start("newest"), at: scene.now)
        }
        let revision = Revision(try #require(try scene.integer("SELECT max(revision) FROM countdown")))
        try execute("UPDATE countdown SET state = 9 WHERE key = 'newest'")
        let keeper = try scene.open()
        #expect(keeper.timetable.revision > revision)
        #expect(!keeper.timetable.canResume(after: Revision(revision.number - 1)))
        #expect(keeper.timetable.canResume(after: revision))
        // Letting go of older endings does not take that back.
        try keeper.turn(.start("10"), .cancel(Key("10")), at: scene.now)
        keeper.trim(at: scene.now)
        #expect(!keeper.timetable.canResume(after: Revision(revision.number - 1)))
    }

    @Test("in the table of gaps keeps everybody from resuming from before this start, as nobody knows what it said")
    func wrongGap() throws {
        let revision = Revision(try #require(try scene.integer("SELECT max(revision) FROM countdown")))
        try execute("INSERT INTO gap VALUES (7, 'nine')")
        let keeper = try scene.open()
        #expect(keeper.known.count == 3)
        #expect(try #require(scene.lines.all.last).contains("the one of table gap: its revisions are no range"))
        #expect(!keeper.timetable.canResume(after: revision))
        #expect(keeper.timetable.canResume(after: keeper.timetable.revision))
    }

    @Test("one of two live rows of a key is none: the later counts, and the earlier goes")
    func twoLive() throws {
        try execute("UPDATE countdown SET key = 'last', label = 'later' WHERE key = 'wrong'")
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == ["first", "last"])
        #expect(try keeper["last"]?.label == nil)
        try keeper.turn(.start("new"), at: scene.now)
        #expect(try scene.integer("SELECT count(*) FROM countdown WHERE label = 'later'") == 0)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("one above the newest revision that a stop has noted is none: revisions go on behind it")
    func aboveTheNewest() throws {
        do { try scene.open().stop() }
        let stopped = try #require(try scene.integer("SELECT revision FROM daemon"))
        try execute("UPDATE countdown SET revision = \(stopped + 5_000) WHERE key = 'last'")
        let keeper = try scene.open()
        #expect(keeper.timetable.revision.number == stopped + 5_000)
        #expect(scene.lines.all.isEmpty)
    }
}
