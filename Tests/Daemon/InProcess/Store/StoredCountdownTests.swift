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

    @Test("all changes of a turn are stored in their order", arguments: [1, 40, 3_000])
    func turns(count: Int) throws {
        let keys = (0..<count).map { "key \($0)" }
        do { try scene.open().turn(try keys.map { try .start($0) }, at: scene.now) }
        let known = try scene.open().known
        #expect(known.map(\.key.text) == keys)
        #expect(zip(known, known.dropFirst()).allSatisfy { $1.revision.number == $0.revision.number + 1 })
    }

    @Test("a turn of more than 16 MiB is refused, and the next one is stored")
    func giant() throws {
        let text = String(repeating: "x", count: 1_000)
        do {
            let keeper = try scene.open()
            let changes = try keeper.decide((0..<17_000).map { try .restart("\($0)", label: text) }, at: scene.now)
            let failure = #expect(throws: StoreFailure.self) { try keeper.store.commit(changes, comparing: true) }
            #expect(try #require(failure).reason.contains("File too large"))
            for part in stride(from: 0, to: 17_000, by: 1_000) {
                try keeper.store.commit(Changes(steps: Array(changes.steps[part..<part + 1_000])), comparing: true)
            }
        }
        #expect(try scene.open().timetable.liveCount == 17_000)
        #expect(scene.lines.all.isEmpty)
    }

    private func forgotten(_ key: String, for seconds: Int64 = 600) throws -> Request {
        .start(Request.Start(try Key(key), .after(.seconds(seconds)), forget: true))
    }

    @Test("the end of a forget countdown hides earlier lines of its key", arguments: [false, true])
    func tombstone(stops: Bool) throws {
        let newest: Revision
        do {
            let keeper = try scene.open()
            try keeper.turn(.start("kept"), forgotten("limit"), at: scene.now)
            newest = try #require(try keeper.turn(.cancel(Key("limit")), at: scene.now).last).countdown.revision
            if stops { keeper.stop() } else { try scene.crash() }
        }
        let keeper = try scene.open()
        #expect(keeper.keys == ["kept"])
        #expect(keeper.timetable.revision >= newest)
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
    }

    @Test("ends that were given up do not come back with a larger history", arguments: [1, 0, 995])
    func givenUp(restarts: Int) throws {
        scene.limits.history = 10
        do {
            let keeper = try scene.open()
            // More than a thousand given up are stored by the next turn, fewer when the daemon stops.
            let count = 15 + restarts
            try end(0..<count, by: keeper)
            keeper.trim(at: scene.now)
            try keeper.turn(.start("next"), at: scene.now)
            if restarts == 995 { try scene.crash() } else { keeper.stop() }
        }
        scene.limits.history = 100_000
        for _ in 0...1 { #expect(try scene.open().timetable.endedCount == 10) }
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

    @Test("if the limit has become lower, the next start cuts the history")
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
    }
}
