import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("A stored countdown")
final class StoredCountdownTests: StoreSuite {
    /// Texts that are often read or written wrongly.
    private static let difficult = [
        "", " ", "tea", "\u{0}", "before\u{0}after", "\u{1}\u{1f}\u{7f}\u{85}", "\n\r\t", #""\/'`;--"#, "{}[],:",
        "null",
        "Åsa", "A\u{30a}sa", "é", "e\u{301}", "日本語", "한국어", "\u{1112}\u{1161}\u{11ab}", "עברית\u{202e}abc",
        "👩‍👩‍👧‍👦🏳️‍🌈☎️", "🇩🇪🇫",
        "\u{feff}bom", "\u{fffd}", "\u{fffe}\u{ffff}", "\u{10ffff}", "\u{e000}", "\u{200b}\u{2028}\u{2029}", "\u{d7ff}",
        String(repeating: "長", count: 341), String(repeating: "\u{0}", count: 1_024),
    ]

    private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    @Test("texts are read back byte for byte, as label, in metadata and as key", arguments: difficult)
    func texts(text: String) throws {
        var request = Request.Start(try (try? Key(text)) ?? Key("key"), label: text)
        let others = ["": text, "name": text, "\u{0}": "\u{0}"]
        let pairs = text.utf8.count > 300 ? [text: ""] : others.merging([text: text]) { _, new in new }
        let metadata = Metadata(pairs)
        request.metadata = metadata
        do { try scene.open().turn(.start(request), at: scene.now) }
        let found = try #require(try scene.open().known.first)
        #expect(bytes(found.key.text) == bytes(request.key.text))
        #expect(bytes(found.label) == bytes(text))
        #expect(found.metadata == metadata)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("a missing label and missing metadata stay missing, and an empty label stays empty")
    func nothing() throws {
        do {
            var empty = Request.Start(try Key("empty"), label: "")
            empty.metadata = [:]
            try scene.open().turn(.start("none"), .start(empty), at: scene.now)
        }
        let known = try scene.open().known
        #expect(known.map(\.label) == [nil, ""])
        #expect(known.map(\.metadata) == [[:], [:]])
    }

    @Test("two keys with different bytes are two keys, even if they look the same")
    func normalization() throws {
        do { try scene.open().turn(.start("Åsa"), .start("A\u{30a}sa"), at: scene.now) }
        #expect(try scene.open().known.count == 2)
    }

    // MARK: Dead rows

    private func rows(_ condition: String = "1") throws -> Int64 {
        try #require(try scene.integer("SELECT count(*) FROM countdown WHERE \(condition)"))
    }

    @Test("a row is deleted after a later row has its key, except the newest row of all")
    func replaced() throws {
        let keeper = try scene.open()
        for _ in 0..<500 {
            try keeper.turn(.start(Request.Start(Key("tea"), ifLive: .restart)), at: scene.now)
            #expect(try rows() <= 2)
        }
    }

    @Test(
        "dead rows of turns in quick succession are deleted a few at a time when the daemon is idle, also after a restart"
    )
    func parts() throws {
        do {
            let keeper = try scene.open()
            keeper.defersCleanup = true
            try keeper.turn((0..<1_000).map { try .start("\($0)") }, at: scene.now)
            scene.pass(.seconds(601))
            try keeper.turn([], at: scene.now)
            try keeper.turn(.start("new"), at: scene.now)
            #expect(try rows() == 2_001)
            #expect(try keeper.store.cleanUp())
            #expect(try (1..<1_000).contains(rows("state = 0 AND key != 'new'")))
            try scene.crash()
        }
        let keeper = try scene.open()
        #expect(keeper.timetable.endedCount == 1_000)
        for number in 0..<20 { try keeper.turn(.start("\(number)"), at: scene.now) }
        #expect(try rows("state = 0") == 21)
        #expect(try rows("state = 2") == 1_000)
    }

    private func forgotten(_ key: String, for seconds: Int64 = 600) throws -> Request {
        .start(Request.Start(try Key(key), .after(.seconds(seconds)), forget: true))
    }

    @Test("the end of a forget countdown hides earlier rows of its key, and is deleted after them")
    func tombstone() throws {
        do {
            let keeper = try scene.open()
            try keeper.turn(.start("kept"), forgotten("limit"), at: scene.now)
            try keeper.turn(.cancel(Key("limit")), at: scene.now)
            #expect(try rows("key = 'limit' AND state = 0") == 1)
            try scene.crash()
        }
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == ["kept"])
        for key in ["next", "after"] { try keeper.turn(.start(key), at: scene.now) }
        #expect(try rows("key = 'limit'") == 0)
    }

    @Test("the end of a forget countdown stays while its revision is the newest, which is not given again")
    func newestTombstone() throws {
        var newest = Revision(0)
        for _ in 1...3 {
            let keeper = try scene.open()
            #expect(keeper.timetable.revision >= newest)
            try keeper.turn(forgotten("limit", for: 1), at: scene.now)
            scene.pass(.seconds(2))
            newest = try #require(try keeper.turn([], at: scene.now).last).countdown.revision
            keeper.stop()
        }
        #expect(try rows("state = 4") == 1)
        #expect(try scene.open().known.isEmpty)
    }

    // MARK: Ends

    private func end(_ range: Range<Int>, by keeper: Keeper) throws {
        for number in range { try keeper.turn(.start("\(number)"), .finish(Key("\(number)")), at: scene.now) }
    }

    @Test("the number of ends is limited, also over restarts, and a watch that would miss one cannot resume")
    func byNumber() throws {
        scene.limits.history = 10
        var trimmed = Revision(0)
        do {
            let keeper = try scene.open()
            try end(0..<15, by: keeper)
            trimmed = keeper.known[4].revision
            keeper.trim(at: scene.now)
            // The next turn stores the compaction.
            try keeper.turn(.start("next"), at: scene.now)
            try scene.crash()
        }
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == (5..<15).map { "\($0)" } + ["next"])
            #expect(keeper.timetable.oldestRevision == trimmed)
            #expect(keeper.canResume(after: trimmed))
            #expect(!keeper.canResume(after: Revision(trimmed.number - 1)))
            keeper.stop()
        }
    }

    @Test("ends that were compacted are compacted by the next start too, if that was not stored yet")
    func letGoAgain() throws {
        scene.limits.history = 10
        do {
            let keeper = try scene.open()
            try end(0..<15, by: keeper)
            keeper.trim(at: scene.now)
            try scene.crash()
        }
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == (5..<15).map { "\($0)" })
        let oldest = keeper.timetable.oldestRevision
        #expect(oldest.number == keeper.known[0].revision.number - 2)
        try keeper.turn(.start("next"), at: scene.now)
        #expect(try rows("key IN ('0', '1', '2', '3', '4')") == 0)
    }

    @Test(
        "the age of ends is limited; it counts from when they could be delivered, also while the daemon is not running"
    )
    func byAge() throws {
        do {
            let keeper = try scene.open()
            try end(0..<3, by: keeper)
            scene.pass(.seconds(86_400))
            try end(3..<5, by: keeper)
            try keeper.turn(.start("late", for: 1), at: scene.now)
            keeper.stop()
        }
        scene.pass(scene.limits.historyAge - .seconds(86_400) + .seconds(1))
        let keeper = try scene.open()
        try keeper.turn([], at: scene.now)
        // Until then, the system clock may be wrong.
        scene.pass(.seconds(3_600))
        keeper.trim(at: scene.now)
        #expect(keeper.known.map(\.key.text) == ["3", "4", "late"])
        scene.pass(.seconds(86_400))
        keeper.trim(at: scene.now)
        #expect(keeper.known.map(\.key.text) == ["late"])
    }

    @Test("if the limit has become lower, the next start cuts the history, with less than a turn's work at a time")
    func shorterHistory() throws {
        do {
            let keeper = try scene.open()
            try end(0..<300, by: keeper)
            keeper.stop()
        }
        scene.limits.history = 100
        let keeper = try scene.open()
        keeper.trim(at: scene.now)
        #expect(keeper.timetable.endedCount == 100)
        for number in 0..<5 { try keeper.turn(.start("\(number)"), at: scene.now) }
        #expect(try rows("state = 2") == 100)
    }
}
