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

    private func execute(_ sql: String) throws { try scene.execute(sql) }

    /// What may be wrong in one that a person has changed, and what is said of it.
    private static let faults: [(change: String, words: String)] = [
        ("key = ''", "its key is none"),
        ("key = NULL", "its key is none"),
        ("key = 7", "its key is none"),
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
        ("label = 7", "its label is no text"),
        ("metadata = '{\"a\":1}'", "its metadata is no JSON object of strings"),
        ("metadata = '[]'", "its metadata is no JSON object of strings"),
        ("forget = 'no'", "its forget is no number of microseconds"),
        ("revision = 9007199254740991", "no change can have that revision"),
        ("revision = 0", "no change can have that revision"),
    ]

    @Test("is not served and is named, stays in its table, and takes nothing else along", arguments: faults)
    func leftOut(change: String, words: String) throws {
        try execute("UPDATE countdown SET \(change) WHERE key = 'wrong'")
        let revision = try scene.integer(
            "SELECT max(revision) FROM countdown WHERE key IS NOT 'first' AND key IS NOT 'last'"
        )
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == ["first", "last"])
            let line = try #require(scene.lines.all.last)
            #expect(line.hasPrefix("error: \(scene.path): a row is not served and left as it is"), "\(line)")
            #expect(line.hasSuffix("with revision \(revision ?? 0): \(words)"), "\(line)")
        }
        #expect(try scene.integer("SELECT count(*) FROM countdown") == 3)
    }

    /// What may stand in the place of a row's line.
    private static let lines = [
        "", " ", "null", "[]", "{}", "[1]", "[1,\"wrong\"", "[1,\"wr\u{1}ong\",0,0,1,2,0,4,5,null,null,0]",
        "[1,\"wrong\",0,0,1,2,0,4,5,null,null,0,0]", "[null,\"wrong\",0,0,1,2,0,4,5,null,null,0]",
    ]

    @Test("is not served where its line is none, which is named and takes nothing else along", arguments: lines)
    func notALine(line: String) throws {
        try replaceLine(with: "'\(line)'")
        for _ in 1...2 { try expectOnlyTheLine() }
    }

    @Test("is not served where its line is no UTF-8")
    func notText() throws {
        try replaceLine(with: "CAST(x'5b312c22ff225d' AS TEXT)")
        try expectOnlyTheLine()
    }

    private func replaceLine(with text: String) throws {
        let lines = "json_each('[' || replace(changes, char(10), ',') || ']')"
        let line = "(SELECT value FROM \(lines) WHERE value LIKE '%wrong%')"
        try execute("UPDATE batch SET changes = replace(changes, \(line), \(text))")
    }

    private func expectOnlyTheLine() throws {
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == ["first", "last"])
        let first = try #require(try scene.integer("SELECT first FROM batch"))
        let place = "the one in the batch that counts from \(first)"
        let fault = "it is no JSON array of values, the first an integer"
        #expect(try #require(scene.lines.all.last).hasSuffix("\(place): \(fault)"))
        #expect(!keeper.canResume(after: Revision(first)))
    }

    @Test("is not served where its batch holds no text, or nothing", arguments: ["x''", "7", "''", "x'00ff'"])
    func notABatch(changes: String) throws {
        try execute("UPDATE batch SET changes = \(changes)")
        #expect(try scene.open().known.isEmpty)
        #expect(scene.lines.all.count == 1)
        #expect(try scene.integer("SELECT count(*) FROM batch") == 1)
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
            INSERT INTO batch SELECT first + 20, replace(value, '"first",0', '"first",9')
                FROM batch, json_each('[' || replace(changes, char(10), ',') || ']') WHERE value LIKE '%first%'
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
        #expect(!keeper.canResume(after: Revision(revision.number - 1)))
        #expect(keeper.canResume(after: revision))
        // Letting go of older endings does not take that back.
        try keeper.turn(.start("10"), .cancel(Key("10")), at: scene.now)
        keeper.trim(at: scene.now)
        #expect(!keeper.canResume(after: Revision(revision.number - 1)))
    }

    @Test("in the table of gaps keeps everybody from resuming from before this start, as nobody knows what it said")
    func wrongGap() throws {
        let revision = Revision(try #require(try scene.integer("SELECT max(revision) FROM countdown")))
        try execute("INSERT INTO gap VALUES (7, 'nine')")
        let keeper = try scene.open()
        #expect(keeper.known.count == 3)
        #expect(try #require(scene.lines.all.last).contains("the one of table gap: its revisions are no range"))
        #expect(!keeper.canResume(after: revision))
        #expect(keeper.canResume(after: keeper.timetable.revision))
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
        try execute("UPDATE batch SET first = \(stopped + 5_000)")
        let keeper = try scene.open()
        #expect(keeper.timetable.revision.number == stopped + 5_002)
        #expect(scene.lines.all.isEmpty)
    }
}
