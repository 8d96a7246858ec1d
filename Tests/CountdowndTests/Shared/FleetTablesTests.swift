import CountdownCore
import Fleet
import Testing

@testable import countdownd

@Suite("What a member of a fleet stores")
struct FleetTablesTests {
    private func entry(_ key: String, _ version: Int64, _ record: String? = "{}") throws -> LogEntry {
        LogEntry(
            key: try Key(key),
            version: Version(version),
            id: try #require(ProposalID("0123456789abcdef0123456789abcdef.\(version)")),
            record: record.map { Array($0.utf8) }
        )
    }

    private func changes(_ entries: LogEntry...) -> FleetChanges {
        FleetChanges(
            entries: Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) }),
            position: entries.last.map { LogCursor.Position(version: $0.version, id: $0.id) }
        )
    }

    private typealias Opened = (keeper: Keeper, position: LogCursor.Position?, entries: [LogEntry])

    /// Opens the store, and reads the tables.
    private func read(_ scene: StoreScene) throws -> Opened {
        let keeper = try scene.open()
        var entries: [LogEntry] = []
        let position = try keeper.store.openFleet { entries.append($0) }
        return (keeper, position, entries.sorted { $0.version < $1.version })
    }

    private func commit(_ changes: FleetChanges, _ keeper: Keeper) throws {
        try keeper.store.commit(Changes(fleet: changes), deferringCleanup: false)
    }

    @Test("is there after a restart: records by their keys, and the position of the last commit")
    func restores() throws {
        let scene = try StoreScene()
        do {
            let (keeper, position, _) = try read(scene)
            #expect(position == nil)
            try commit(changes(entry("a", 7), entry("b", 8)), keeper)
            try commit(changes(entry("a", 9, #"{"label":"Tee"}"#)), keeper)
        }
        let (_, position, entries) = try read(scene)
        #expect(position?.version == Version(9))
        #expect(position?.id == ProposalID("0123456789abcdef0123456789abcdef.9"))
        #expect(entries == [try entry("b", 8), try entry("a", 9, #"{"label":"Tee"}"#)])
    }

    @Test("is no more what was removed, nor the position while a snapshot is read")
    func removes() throws {
        let scene = try StoreScene()
        do {
            let (keeper, _, _) = try read(scene)
            try commit(changes(entry("a", 7), entry("b", 8)), keeper)
            try commit(changes(entry("a", 7, nil)), keeper)
        }
        #expect(try read(scene).entries == [try entry("b", 8)])
        do { try commit(FleetChanges(entries: [:], position: nil), try read(scene).keeper) }
        let (_, position, _) = try read(scene)
        #expect(position == nil)
    }

    @Test("counts as lost if a row is malformed, because the engine has everything")
    func malformed() throws {
        let scene = try StoreScene()
        do { try commit(changes(entry("a", 7)), try read(scene).keeper) }
        try scene.execute("UPDATE fleet_record SET id = 'nobody'")
        #expect(try read(scene).position == nil)
    }

    @Test("is stored together with the changes of the turn, and with the oldest revision if the history was trimmed")
    func trims() throws {
        let scene = try StoreScene()
        let revision: Revision
        do {
            let (keeper, _, _) = try read(scene)
            try keeper.turn(.start(Request.Start(Key("a"), .after(.seconds(60)))), at: scene.now)
            keeper.timetable.trimHistory()
            revision = keeper.timetable.oldestRevision
            var stored = try changes(entry("a", 7))
            stored.oldest = revision
            try commit(stored, keeper)
        }
        #expect(try read(scene).keeper.timetable.oldestRevision >= revision)
    }

    @Test("makes no tables in the store of a daemon without a fleet")
    func paysNothing() throws {
        let scene = try StoreScene()
        do { try scene.open().turn(.start(Request.Start(Key("a"), .after(.seconds(60)))), at: scene.now) }
        #expect(try scene.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'fleet%'") == 0)
    }

    @Test("lets an elapsed countdown end by the engine's clock, also after a restart")
    func keepsDeadline() throws {
        let scene = try StoreScene()
        let deadline = scene.now.wall + .seconds(60)
        do {
            let (keeper, _, _) = try read(scene)
            let countdown = KeyedCountdown(
                key: try Key("a"),
                phase: .running(until: .wall(deadline)),
                clock: .elapsed,
                duration: .seconds(60),
                started: scene.now.wall,
                revision: Revision(0)
            )
            let applied = keeper.timetable.applyRemote(.countdown(countdown, .started, isSameRun: false), at: scene.now)
            try keeper.store.commit(Changes(steps: applied.map(\.change)), deferringCleanup: false)
        }
        scene.pass(.seconds(10), thenSetBy: .seconds(5))
        let keeper = try scene.open()
        let found = keeper.timetable.countdown(under: try Key("a"))
        let countdown = try #require(found)
        #expect(countdown.clock == .elapsed)
        #expect(countdown.phase == .running(until: .wall(deadline)))
    }
}
