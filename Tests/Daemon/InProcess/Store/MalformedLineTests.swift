import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("A malformed line")
final class MalformedLineTests: StoreSuite {
    private let revision: Revision

    override init() throws {
        let scene = try StoreScene()
        scene.limits.history = 10
        let keeper = try scene.open()
        let changes = try keeper.turn(.start("first"), .start("wrong"), .start("last"), at: scene.now)
        revision = try #require(changes.dropFirst().first).countdown.revision
        keeper.stop()
        try super.init(scene)
    }

    private func skips(_ scene: StoreScene) -> [String] { scene.lines.all.filter { $0.contains("malformed") } }

    /// Mistakes of a person in the elements of a line, and their description in the log.
    private static let faults: [(elements: [Int: String], words: String)] = [
        ([1: "\"\""], "invalid key"),
        ([1: "null"], "invalid key"),
        ([1: "7"], "invalid key"),
        ([1: "\"te\\na\""], "invalid key"),
        ([1: "\"\(String(repeating: "k", count: 256))\""], "invalid key"),
        ([2: "5"], "unknown state"),
        ([2: "\"running\""], "unknown state"),
        ([3: "2"], "unknown clock"),
        ([4: "77"], "unknown boot"),
        ([5: "1.5"], "its instant is not a number of microseconds"),
        ([5: "9223372036854775807"], "its instant is not a number of microseconds"),
        ([2: "1", 5: "-1"], "its instant is less than 0"),
        ([6: "-1"], "its rest is less than 0"),
        ([7: "0"], "its length is less than 1"),
        ([7: "-5"], "its length is less than 1"),
        ([8: "\"then\""], "its started is not a number of microseconds"),
        ([9: "7"], "its label is not a text"),
        ([10: "{\"a\":1}"], "its metadata is not a JSON object of strings"),
        ([10: "[]"], "its metadata is not a JSON object of strings"),
        ([11: "\"no\""], "its forget is not a number of microseconds"),
        ([0: "9007199254740991"], "invalid revision 9007199254740991"),
        ([0: "0"], "invalid revision 0"),
    ]

    @Test("it is not served, is logged, affects no other line, and stays in the next base as it is", arguments: faults)
    func skipped(elements: [Int: String], words: String) throws {
        try scene.log.edit("wrong", elements)
        let number = elements[0] ?? "\(revision.number)"
        let line = try #require(try scene.log.lines().first { $0.hasPrefix("[\(number),") })
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.keys == ["first", "last"])
            let said = try #require(skips(scene).last)
            #expect(
                said.hasPrefix("error: \(scene.log.folder): a malformed line is skipped and stays in the log: "),
                "\(said)"
            )
            #expect(said.hasSuffix(": \(words)"), "\(said)")
            keeper.work(at: scene.now)
            #expect(try scene.log.lines().contains(line))
            keeper.stop()
        }
    }

    /// A text in place of a line.
    private static let lines = [
        "", " ", "null", "[]", "{}", "[1]", "[1,\"wrong\"", "[1,\"wr\u{1}ong\",0,0,1,2,0,4,5,null,null,0]",
        "[1,\"wrong\",0,0,1,2,0,4,5,null,null,0,0]", "[null,\"wrong\",0,0,1,2,0,4,5,null,null,0]", "[\"unheard\",1]",
        "[1,\"\u{fffd}\u{0}\"]",
    ]

    @Test("a text that is no line of a log affects no other line", arguments: lines)
    func notALine(text: String) throws {
        try scene.log.edit("wrong") { _ in text }
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.keys == ["first", "last"])
            #expect(!keeper.canResume(after: Revision(revision.number - 1)))
            keeper.work(at: scene.now)
            keeper.stop()
        }
        #expect(skips(scene).isEmpty == text.isEmpty)
    }

    @Test("bytes that are not UTF-8 affect no other line")
    func notText() throws {
        try scene.log.edit("wrong") { _ in "@" }
        let name = try scene.log.last
        try scene.log.write(scene.log.bytes(of: name).map { $0 == UInt8(ascii: "@") ? 0xff : $0 }, to: name)
        #expect(try scene.open().keys == ["first", "last"])
        #expect(skips(scene).count == 1)
    }

    @Test("of lines that are not in the order of their revisions, the one that is above most others is malformed")
    func outOfOrder() throws {
        for (key, number) in [("first", 2), ("wrong", 0), ("last", 1)] as [(String, Int64)] {
            try scene.log.edit(key, [0: "\(revision.number - 1 + number)"])
        }
        #expect(try scene.open().keys == ["wrong", "last"])
        #expect(try #require(skips(scene).last).contains("invalid revision"))
    }

    @Test("it is served again after it was mended, in the log of the daemon that has skipped it")
    func mended() throws {
        try scene.log.edit("wrong", [2: "9"])
        do {
            let keeper = try scene.open()
            #expect(try keeper["wrong"] == nil)
            keeper.work(at: scene.now)
            #expect(keeper.store.bases == 1)
            keeper.stop()
        }
        try scene.log.edit("wrong", [2: "0"])
        do {
            let keeper = try scene.open()
            #expect(keeper.keys == ["first", "wrong", "last"])
            keeper.work(at: scene.now)
            keeper.stop()
        }
        #expect(try scene.open().keys == ["first", "wrong", "last"])
        #expect(skips(scene).count == 1)
    }

    @Test("the file in which a person has changed something is kept as it is, once, and a base takes its place")
    func kept() throws {
        try scene.log.edit("wrong") { $0.replacing("wrong", with: "right") }
        let (name, edited) = (try scene.log.last, try scene.log.bytes(of: scene.log.last))
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.keys == ["first", "right", "last"])
            keeper.work(at: scene.now)
            keeper.stop()
        }
        let place = "log-damaged-20250615T152320Z"
        #expect(
            try scene.files.filter { $0.key.hasPrefix("log-") && !$0.value.isEmpty }.map(\.key) == ["\(place)/\(name)"]
        )
        #expect(try scene.files["\(place)/\(name)"].map(Array.init) == edited)
        let said = scene.lines.all
        #expect(said.count == 2)
        #expect(try #require(said.first).contains("\(name) is damaged: "))
        #expect(try #require(said.last).hasSuffix("the files are kept in \(scene.directory.path(of: place))"))
    }

    @Test("of several malformed lines the first is logged, with their number")
    func several() throws {
        for key in ["first", "wrong", "last"] { try scene.log.edit(key, [7: "0"]) }
        #expect(try scene.open().known.isEmpty)
        let line = try #require(skips(scene).last)
        #expect(line.contains("3 malformed lines are skipped and stay in the log; the first is: "))
        #expect(line.hasSuffix(": its length is less than 1"))
    }

    @Test("it hides earlier lines of its key, because they do not count any more; a later line is served")
    func hides() throws {
        do {
            let keeper = try scene.open()
            try keeper.turn(.cancel(Key("first")), at: scene.now)
            keeper.stop()
        }
        try scene.log.edit(#","first",3,"#) { $0.replacing(#""first",3"#, with: #""first",9"#) }
        do {
            let keeper = try scene.open()
            #expect(keeper.keys == ["wrong", "last"])
            try keeper.turn(.start("first"), at: scene.now)
            keeper.stop()
        }
        #expect(try scene.open().keys == ["wrong", "last", "first"])
    }

    @Test("no watch can resume from before it, because its change cannot be delivered")
    func resuming() throws {
        let revision: Revision
        do {
            let keeper = try scene.open()
            for number in 0..<10 { try keeper.turn(.start("\(number)"), .cancel(Key("\(number)")), at: scene.now) }
            revision = try #require(try keeper.turn(.start("newest"), at: scene.now).first).countdown.revision
            keeper.stop()
        }
        try scene.log.edit("newest", [2: "9"])
        let keeper = try scene.open()
        #expect(keeper.timetable.revision >= revision)
        #expect(!keeper.canResume(after: Revision(revision.number - 1)))
        #expect(keeper.canResume(after: revision))
        // Giving up older ends does not undo that.
        try keeper.turn(.start("10"), .cancel(Key("10")), at: scene.now)
        keeper.trim(at: scene.now)
        #expect(!keeper.canResume(after: Revision(revision.number - 1)))
    }

    @Test("two live lines with one key are not malformed: the later one counts")
    func twoLive() throws {
        try scene.log.edit("wrong", [1: "\"last\"", 9: "\"earlier\""])
        let keeper = try scene.open()
        #expect(keeper.keys == ["first", "last"])
        #expect(try keeper["last"]?.label == nil)
        #expect(skips(scene).isEmpty)
    }

    @Test("a line above the revision of the last stop is not malformed: revisions continue after it")
    func aboveTheNewest() throws {
        try scene.log.edit("last", [0: "\(revision.number + 5_000)"])
        #expect(try scene.open().timetable.revision.number == revision.number + 5_000)
        #expect(skips(scene).isEmpty)
    }
}
