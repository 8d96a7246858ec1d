import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("A malformed row")
struct MalformedRowTests {
    private let scene: StoreScene

    init() throws {
        scene = try StoreScene()
        scene.limits.history = 10
        do {
            let keeper = try scene.open()
            try keeper.turn(.start("first"), .start("wrong"), .start("last"), at: scene.now)
        }
    }

    private func execute(_ sql: String) throws { try scene.execute(sql) }

    /// A mistake of a person in a row, and its description in the log.
    private static let faults: [(change: String, words: String)] = [
        ("key = ''", "invalid key"),
        ("key = NULL", "invalid key"),
        ("key = 7", "invalid key"),
        ("key = 'te' || char(10) || 'a'", "invalid key"),
        ("key = printf('%.256c', 'k')", "invalid key"),
        ("state = 5", "unknown state"),
        ("state = 'running'", "unknown state"),
        ("clock = 2", "unknown clock"),
        ("boot = 77", "unknown boot"),
        ("instant = 1.5", "its instant is not a number of microseconds"),
        ("instant = 9223372036854775807", "its instant is not a number of microseconds"),
        ("state = 1, instant = -1", "its instant is less than 0"),
        ("rest = -1", "its rest is less than 0"),
        ("length = 0", "its length is less than 1"),
        ("length = -5", "its length is less than 1"),
        ("started = 'then'", "its started is not a number of microseconds"),
        ("label = 7", "its label is not a text"),
        ("metadata = '{\"a\":1}'", "its metadata is not a JSON object of strings"),
        ("metadata = '[]'", "its metadata is not a JSON object of strings"),
        ("forget = 'no'", "its forget is not a number of microseconds"),
        ("revision = 9007199254740991", "invalid revision"),
        ("revision = 0", "invalid revision"),
    ]

    @Test("it is not served, is logged, stays in its table, and affects no other row", arguments: faults)
    func skipped(change: String, words: String) throws {
        try execute("UPDATE countdown SET \(change) WHERE key = 'wrong'")
        let revision = try scene.integer(
            "SELECT max(revision) FROM countdown WHERE key IS NOT 'first' AND key IS NOT 'last'"
        )
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == ["first", "last"])
            let line = try #require(scene.lines.all.last)
            #expect(
                line.hasPrefix("error: \(scene.path): a malformed row is skipped and stays in its table"),
                "\(line)"
            )
            #expect(line.hasSuffix("with revision \(revision ?? 0): \(words)"), "\(line)")
        }
        #expect(try scene.integer("SELECT count(*) FROM countdown") == 3)
    }

    /// A text in place of a row's line.
    private static let lines = [
        "", " ", "null", "[]", "{}", "[1]", "[1,\"wrong\"", "[1,\"wr\u{1}ong\",0,0,1,2,0,4,5,null,null,0]",
        "[1,\"wrong\",0,0,1,2,0,4,5,null,null,0,0]", "[null,\"wrong\",0,0,1,2,0,4,5,null,null,0]",
    ]

    @Test("a malformed line is not served, is logged, and affects no other line", arguments: lines)
    func notALine(line: String) throws {
        try replaceLine(with: "'\(line)'")
        for _ in 1...2 { try expectOnlyTheLine() }
    }

    @Test("all lines whose revision is not above those before are malformed, not only the first of them")
    func outOfOrder() throws {
        for (old, key, new) in [(0, "first", 2), (1, "wrong", 0), (2, "last", 1)] {
            let (line, text) = ("[\(old),\"\(key)\"", "[\(new),\"\(key)\"")
            try execute("UPDATE batch SET changes = replace(changes, '\(line)', '\(text)')")
        }
        #expect(try scene.open().known.map(\.key.text) == ["first"])
        #expect(scene.lines.all.contains { $0.contains("invalid revision") })
    }

    @Test("a line that is not UTF-8 is not served")
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
        let place = "the row in the batch that begins with \(first)"
        let fault = "not a JSON array of values that begins with an integer"
        #expect(try #require(scene.lines.all.last).hasSuffix("\(place): \(fault)"))
        #expect(!keeper.canResume(after: Revision(first)))
    }

    @Test("a batch that is empty or not a text is not served", arguments: ["x''", "7", "''", "x'00ff'"])
    func notABatch(changes: String) throws {
        try execute("UPDATE batch SET changes = \(changes)")
        #expect(try scene.open().known.isEmpty)
        #expect(scene.lines.all.count == 1)
        #expect(try scene.integer("SELECT count(*) FROM batch") == 1)
    }

    @Test("it is served again after it was repaired")
    func mended() throws {
        try execute("UPDATE countdown SET state = 9 WHERE key = 'wrong'")
        #expect(try scene.open()["wrong"] == nil)
        try execute("UPDATE countdown SET state = 0 WHERE key = 'wrong'")
        #expect(try scene.open().known.map(\.key.text) == ["first", "wrong", "last"])
        #expect(scene.lines.all.count == 1)
    }

    @Test("of several malformed rows the first is logged, with their number")
    func several() throws {
        try execute("UPDATE countdown SET length = 0")
        #expect(try scene.open().known.isEmpty)
        let line = try #require(scene.lines.all.last)
        #expect(line.contains("3 malformed rows are skipped and stay in their tables"))
        #expect(line.hasSuffix("its length is less than 1"))
    }

    @Test("it hides earlier rows of its key, because they do not count any more; a later row is served")
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

    @Test("no watch can resume from before it, because its change cannot be delivered")
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
        // The compaction of older ends does not undo that.
        try keeper.turn(.start("10"), .cancel(Key("10")), at: scene.now)
        keeper.trim(at: scene.now)
        #expect(!keeper.canResume(after: Revision(revision.number - 1)))
    }

    @Test("if it is in the table of gaps, no watch can resume from before this start")
    func wrongGap() throws {
        let revision = Revision(try #require(try scene.integer("SELECT max(revision) FROM countdown")))
        try execute("INSERT INTO gap VALUES (7, 'nine')")
        let keeper = try scene.open()
        #expect(keeper.known.count == 3)
        #expect(try #require(scene.lines.all.last).contains("the row of table gap: its revisions are not a range"))
        #expect(!keeper.canResume(after: revision))
        #expect(keeper.canResume(after: keeper.timetable.revision))
    }

    @Test("two live rows with one key are not malformed: the later one counts, and the earlier one is deleted")
    func twoLive() throws {
        try execute("UPDATE countdown SET key = 'last', label = 'later' WHERE key = 'wrong'")
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == ["first", "last"])
        #expect(try keeper["last"]?.label == nil)
        try keeper.turn(.start("new"), at: scene.now)
        #expect(try scene.integer("SELECT count(*) FROM countdown WHERE label = 'later'") == 0)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("a row above the revision of the last stop is not malformed: revisions continue after it")
    func aboveTheNewest() throws {
        do { try scene.open().stop() }
        let stopped = try #require(try scene.integer("SELECT revision FROM daemon"))
        try execute("UPDATE batch SET first = \(stopped + 5_000)")
        let keeper = try scene.open()
        #expect(keeper.timetable.revision.number == stopped + 5_002)
        #expect(scene.lines.all.isEmpty)
    }
}
