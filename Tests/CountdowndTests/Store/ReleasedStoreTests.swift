import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

/// Every version that was released has a store in Tests/Fixtures/stores, as SQL that can be read, and stays there for ever.
@Suite("A store of a released version")
struct ReleasedStoreTests {
    private static let folder = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Fixtures/stores")
    /// Each with what is in its store.
    private static let released: [Int64: [String]] = [1: contents, 2: contents]
    private static let contents = [
        "1772359000000001 tea finished at 1772358900000000 late 417, elapsed 300000000 since 1772358600000000, Tea",
        "1772359000000002 bread finished at 1772358950000000 late 7200000000, wall 3600000000 since 1772355350000000",
        "1772359000000003 bread finished at 1772358960000000 late 0, elapsed 60000000 since 1772358955000000",
        """
        1772359000000004 call/Åsa cancelled at 1772358970000000 with 12345678, elapsed 90000000 since \
        1772358892345678, emoji=☎️, to=Åsa
        """,
        "1772359000000005 long runs to boot 75600000000, elapsed 86400000000 since 1772350600000000, 長い",
        "1772366000000001 code runs to boot 5060000000, elapsed 60000000 since 1772366400000000, again, a\"b=\u{1}",
        "1772366000000002 meeting runs to wall 1772370000000000, wall 3600000000 since 1772366400000000, ",
        "1772366000000003 attempt runs to boot 5003000000, elapsed 3000000 since 1772366400000000, forget",
        "1772366000000004 pause paused with 42000000, elapsed 60000000 since 1772366382000000",
    ]

    /// The machine as the daemon of that version left it.
    private func scene(_ version: Int64) throws -> StoreScene {
        let scene = try StoreScene()
        scene.now = Now(boot: BootInstant(microseconds: 5_000_000_000), offset: .seconds(1_772_361_400))
        scene.boot = "0b6b2a1c-7c9e-4f43-8d7a-2f1a5d8c4e11"
        let sql = try String(contentsOf: Self.folder.appendingPathComponent("version-\(version).sql"), encoding: .utf8)
        let database = try scene.connect()
        try database.execute(sql)
        return scene
    }

    @Test("is kept with the tests for each version that there is")
    func kept() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names == (1...Schema.current.version).map { "version-\($0).sql" })
        #expect(Self.released.keys.sorted() == Array(1...Schema.current.version))
    }

    @Test("has the tables that the steps lead to", arguments: released.keys.sorted())
    func tables(version: Int64) throws {
        let scene = try scene(version)
        let database = try scene.connect()
        #expect(try Schema.version(of: database) == version)
        #expect(try Schema.current.strangeTable(in: database, ofVersion: version) == nil)
    }

    /// What a person may have made of a row, and what is said of it.
    private static let faults: [(change: String, words: String)] = [
        ("key = x'746561'", "its key is none"),
        ("key = CAST(x'ff' AS TEXT)", "it is no JSON array of values, the first an integer"),
        ("state = 'running'", "its state is not known"),
        ("instant = 1.5", "its instant is no number of microseconds"),
        ("length = x'00'", "its length is no number of microseconds"),
        ("label = x'6c'", "its label is no text"),
        ("metadata = '{'", "its metadata is no JSON object of strings"),
        ("metadata = x'7b7d'", "its metadata is no JSON object of strings"),
    ]

    @Test("with a row that no countdownd writes keeps all the others, and that one as it is", arguments: faults)
    func wrongRow(change: String, words: String) throws {
        let scene = try scene(1)
        do { try scene.connect().execute("UPDATE countdown SET \(change) WHERE key = 'tea'") }
        for _ in 1...2 {
            #expect(try scene.open().known.map(\.line) == Array(Self.contents.dropFirst()))
            #expect(try #require(scene.lines.all.last).hasSuffix(words), "\(scene.lines.all)")
        }
    }

    @Test("is read whole, and goes on as one of this version", arguments: released)
    func read(version: Int64, contents: [String]) throws {
        let scene = try scene(version)
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.line) == contents)
            #expect(scene.lines.all == [])
            #expect(try scene.integer("PRAGMA user_version") == Schema.current.version)
        }
        let keeper = try scene.open()
        #expect(try keeper["limit"] == nil)
        #expect(keeper.opened.stepRevision == Revision(1_772_359_000_000_004))
        #expect(keeper.timetable.oldestRevision == Revision(1_772_358_000_000_000))
        for (since, isKnown) in [
            (1_772_358_000_000_000, true), (1_772_359_000_000_009, true), (1_772_359_000_000_010, false),
            (1_772_366_000_000_000, false), (1_772_366_000_000_001, true), (1_772_366_000_000_005, true),
            (1_772_366_000_000_006, false),
        ] as [(Int64, Bool)] {
            #expect(keeper.timetable.canResume(after: Revision(since)) == isKnown, "\(since)")
        }
        try keeper.turn(.start("new"), at: scene.now)
    }
}

extension Countdown {
    /// All of it in a line.
    fileprivate var line: String {
        let state =
            switch phase {
            case .running(.elapsed(let instant)): "runs to boot \(instant.microseconds)"
            case .running(.wall(let instant)): "runs to wall \(instant.microseconds)"
            case .paused(let remaining): "paused with \(remaining.microseconds)"
            case .finished(let instant, let late): "finished at \(instant.microseconds) late \(late.microseconds)"
            case .cancelled(let instant, let rest): "cancelled at \(instant.microseconds) with \(rest.microseconds)"
            }
        let facts = ["\(clock) \(length.microseconds) since \(started.microseconds)"]
        let pairs = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let rest = facts + [label].compactMap(\.self) + pairs + (forget ? ["forget"] : [])
        return "\(revision.number) \(key.text) \(state), \(rest.joined(separator: ", "))"
    }
}
