import CountdownCore
import Fleet
import Foundation
import Testing
import Varlink

@testable import countdownd

@Suite("What a member of a fleet stores")
final class FleetTablesTests: StoreSuite {
    private func entry(_ key: String, _ version: Int64, _ record: String? = "{}") throws -> LogEntry {
        LogEntry(
            key: try Key(key),
            version: LogVersion(version),
            id: try #require(ProposalID("0123456789abcdef0123456789abcdef.\(version)")),
            record: record.map { Array($0.utf8) }
        )
    }

    private func changes(_ rows: Member.RowChange..., position entry: LogEntry) -> FleetChanges {
        FleetChanges(rows: rows, position: LogCursor.Position(version: entry.version, id: entry.id))
    }

    private typealias Opened = (keeper: Keeper, position: LogCursor.Position?, rows: [Int64: LogEntry])

    /// Opens the store, and reads the tables.
    private func read() throws -> Opened {
        scene.followsEngine = true
        let keeper = try scene.open()
        var rows: [Int64: LogEntry] = [:]
        let position = try keeper.store.openFleet { rows[$1] = $0 }
        return (keeper, position, rows)
    }

    private func commit(_ changes: FleetChanges, _ keeper: Keeper) throws {
        try keeper.store.commit(Changes(fleet: changes), deferringCleanup: false)
    }

    @Test("is there after a restart: records by the numbers of their rows, and the position of the last commit")
    func restores() throws {
        let (a, b, tea) = (try entry("a", 7), try entry("b", 8), try entry("a", 9, #"{"label":"Tee"}"#))
        do {
            let (keeper, position, _) = try read()
            #expect(position == nil)
            try commit(changes(.insert(1, a, isJSON: true), .insert(2, b, isJSON: true), position: b), keeper)
            try commit(changes(.delete(1), .insert(3, tea, isJSON: true), position: tea), keeper)
        }
        let (_, position, rows) = try read()
        #expect(position?.version == LogVersion(9))
        #expect(position?.id == ProposalID("0123456789abcdef0123456789abcdef.9"))
        #expect(rows == [2: b, 3: tea])
    }

    @Test("is no more what was removed, nor the position while a snapshot is read")
    func removes() throws {
        let (a, b) = (try entry("a", 7), try entry("b", 8))
        do {
            let (keeper, _, _) = try read()
            try commit(changes(.insert(1, a, isJSON: true), .insert(2, b, isJSON: true), position: b), keeper)
            try commit(changes(.delete(1), position: b), keeper)
        }
        #expect(try read().rows == [2: b])
        do { try commit(FleetChanges(position: nil), try read().keeper) }
        let (_, position, _) = try read()
        #expect(position == nil)
    }

    @Test("has every record in its order, however many there are and whichever are deleted, and people can read them")
    func batches() throws {
        var kept: [Int64: LogEntry] = [:]
        do {
            let (keeper, _, _) = try read()
            var rows: [Member.RowChange] = []
            for number in Int64(1)...100 {
                // JSON with a line break, and a text that is not JSON.
                let lineBreak = number.isMultiple(of: 7) ? "\n" : ""
                let record = number.isMultiple(of: 3) ? "\"{\n" : "{\"label\":\(lineBreak)\"\\n\"}"
                let entry = try entry("key \"\(number)\"", number, record)
                rows.append(.insert(number, entry, isJSON: !number.isMultiple(of: 3)))
                kept[number] = entry
            }
            // Some were inserted by the same changes, others by earlier ones.
            for number in [Int64(7), 100] { rows.append(.delete(number)) }
            let last = try entry("last", 200)
            let position = LogCursor.Position(version: last.version, id: last.id)
            try commit(FleetChanges(rows: rows, position: position), keeper)
            let deletions = [Int64(1), 16, 17, 18, 64].map(Member.RowChange.delete)
            try commit(FleetChanges(rows: deletions + [.insert(200, last, isJSON: true)], position: position), keeper)
            for number in [Int64(1), 7, 16, 17, 18, 64, 100] { kept[number] = nil }
            kept[200] = last
        }
        #expect(try read().rows == kept)
        #expect(try scene.integer("SELECT count(*) FROM fleet_records WHERE record LIKE '%{%'") == Int64(kept.count))
        #expect(try scene.integer("SELECT number FROM fleet_records WHERE key = 'last'") == 200)
    }

    @Test("has a record that is nested as deeply as the reader of records allows")
    func nested() throws {
        let levels = JSONReader.depthLimit - 1
        let (opening, closing) = (String(repeating: "[", count: levels), String(repeating: "]", count: levels))
        let a = try entry("a", 7, "{\"newer\":\(opening)\(closing)}")
        do { try commit(changes(.insert(1, a, isJSON: true), position: a), try read().keeper) }
        #expect(try read().rows == [1: a])
    }

    @Test(
        "is stored in one piece after a long outage, in which most records were replaced",
        .timeLimit(.minutes(1))
    )
    func replaced() throws {
        let (a, count) = (try entry("a", 7), Int64(200_000))
        do {
            let rows = (1...count).map { Member.RowChange.insert($0, a, isJSON: true) }
            let deletions = (1..<count).map(Member.RowChange.delete)
            let position = LogCursor.Position(version: a.version, id: a.id)
            try commit(FleetChanges(rows: rows + deletions, position: position), try read().keeper)
        }
        #expect(try read().rows == [count: a])
    }

    @Test("is stored from the beginning if it could not be read because of a lock", arguments: [false, true])
    func locked(isThere: Bool) throws {
        let (a, b) = (try entry("a", 7), try entry("b", 8))
        // Without a position, everything is deleted when it is read.
        let unfinished = FleetChanges(rows: [.insert(1, a, isJSON: true)], position: nil)
        if isThere { do { try commit(unfinished, try read().keeper) } }
        do {
            let keeper = try scene.open()
            let other = try scene.connect()
            try other.execute("BEGIN IMMEDIATE")
            #expect(throws: StoreFailure.self) { try keeper.store.openFleet { _, _ in } }
            try other.execute("ROLLBACK")
            try commit(changes(.insert(1, b, isJSON: true), position: b), keeper)
        }
        let (_, position, rows) = try read()
        #expect(position?.version == LogVersion(8))
        #expect(rows == [1: b])
    }

    @Test("lets the store be written again if its pages are damaged")
    func damaged() throws {
        let a = try entry("a", 7)
        do {
            let (keeper, _, _) = try read()
            try commit(changes(.insert(1, a, isJSON: true), position: a), keeper)
            keeper.stop()
        }
        // The pages of a store of this size are not checked when it is opened.
        try scene.execute("CREATE TABLE other (bytes BLOB); INSERT INTO other VALUES (zeroblob(17 << 20))")
        let number = try #require(try scene.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'fleet_batch'"))
        _ = try Database(path: scene.path, busyMilliseconds: 0).checkpoint()
        let file = try FileHandle(forUpdating: URL(filePath: scene.path))
        try file.seek(toOffset: UInt64((number - 1) * Int64(Database.pageSize)))
        try file.write(contentsOf: Data([0xFF]))
        try file.close()
        do {
            let keeper = try scene.open()
            #expect(throws: StoreFailure.self) { try keeper.store.openFleet { _, _ in } }
            let failure = #expect(throws: StoreFailure.self) {
                try commit(changes(.insert(1, a, isJSON: true), position: a), keeper)
            }
            #expect(failure?.isOfFiles == true)
            _ = try keeper.store.rewrite(keeper.timetable, clockStep: nil, at: scene.now)
            try commit(changes(.insert(2, a, isJSON: true), position: a), keeper)
        }
        #expect(try read().rows == [2: a])
    }

    @Test("counts as lost if a row is malformed, because the engine has everything")
    func malformed() throws {
        let a = try entry("a", 7)
        do { try commit(changes(.insert(1, a, isJSON: true), position: a), try read().keeper) }
        try scene.execute("UPDATE fleet_batch SET changes = replace(changes, '0123', 'nobody')")
        #expect(try read().position == nil)
    }

    @Test("counts as lost once a daemon without a fleet had the store, because it changes countdowns by itself")
    func left() throws {
        let a = try entry("a", 7)
        do { try commit(changes(.insert(1, a, isJSON: true), position: a), try read().keeper) }
        scene.followsEngine = false
        do { try scene.open().turn(.start("a"), at: scene.now) }
        let (_, position, rows) = try read()
        #expect(position == nil)
        #expect(rows.isEmpty)
    }

    @Test("counts as lost if a countdown is malformed, because its record would be known without it")
    func malformedCountdown() throws {
        let a = try entry("a", 7)
        do {
            let (keeper, _, _) = try read()
            try keeper.turn(.start("a"), at: scene.now)
            try commit(changes(.insert(1, a, isJSON: true), position: a), keeper)
        }
        try scene.execute("UPDATE batch SET changes = replace(changes, '[0,', '[0.5,')")
        let (keeper, position, _) = try read()
        #expect(try keeper["a"] == nil)
        #expect(position == nil)
    }

    @Test("is stored together with the changes of the turn, and with the oldest revision if the history was trimmed")
    func trims() throws {
        let revision: Revision
        do {
            let (keeper, _, _) = try read()
            try keeper.turn(.start(Request.Start(Key("a"), .after(.seconds(60)))), at: scene.now)
            keeper.timetable.trimHistory()
            revision = keeper.timetable.oldestRevision
            let a = try entry("a", 7)
            var stored = changes(.insert(1, a, isJSON: true), position: a)
            stored.oldest = revision
            try commit(stored, keeper)
        }
        #expect(try read().keeper.timetable.oldestRevision >= revision)
    }

    @Test("makes no tables in the store of a daemon without a fleet")
    func paysNothing() throws {
        do { try scene.open().turn(.start(Request.Start(Key("a"), .after(.seconds(60)))), at: scene.now) }
        #expect(try scene.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'fleet%'") == 0)
    }

    @Test("lets an elapsed countdown end by the engine's clock, also after a restart")
    func keepsDeadline() throws {
        let deadline = scene.now.wall + .seconds(60)
        do {
            let (keeper, _, _) = try read()
            let countdown = KeyedCountdown(
                key: try Key("a"),
                phase: .running(until: .wall(deadline)),
                clock: .elapsed,
                duration: .seconds(60),
                started: scene.now.wall,
                revision: Revision(0)
            )
            let applied = keeper.timetable.applyRemote(.countdown(countdown, .started, isSameRun: false), at: scene.now)
            try keeper.store.commit(Changes(steps: applied), deferringCleanup: false)
        }
        scene.pass(.seconds(10), thenSetBy: .seconds(5))
        let keeper = try scene.open()
        let found = keeper.timetable.countdown(under: try Key("a"))
        let countdown = try #require(found)
        #expect(countdown.clock == .elapsed)
        #expect(countdown.phase == .running(until: .wall(deadline)))
    }
}
