import CountdownCore
import Fleet
import Testing
import Varlink

@testable import countdownd

@Suite("What a member of a fleet stores")
final class FleetLineTests: StoreSuite {
    private func id(_ number: Int64) throws -> ProposalID {
        try #require(ProposalID("0123456789abcdef0123456789abcdef.\(number)"))
    }

    /// A record as the log has it: its elements behind the key.
    private func record(_ version: Int64, _ rest: String = ",1750000060000000,false,false") throws -> HeldRecord {
        let text = "[\(version),\"\(try id(version).text)\"\(rest)]"
        let reading = JSONReader.read(copying: text.utf8) { reader in
            _ = reader.beginArrayText()
            _ = reader.nextElement()
            return HeldRecord.read(from: &reader)
        }
        guard case .record(let record) = reading else { throw StoreFailure(reason: "\(text) is no record") }
        return record
    }

    private func position(_ version: Int64) throws -> LogCursor.Position {
        LogCursor.Position(version: LogVersion(version), id: try id(version))
    }

    private func commit(_ records: Member.RecordChange..., at version: Int64, _ keeper: Keeper) throws {
        try keeper.store.commit(
            Changes(fleet: FleetChanges(records: records, position: .some(position(version)))),
            comparing: true
        )
    }

    private func open() throws -> Keeper {
        scene.followsEngine = true
        return try scene.open()
    }

    private func records(_ keeper: Keeper) -> [String: HeldRecord] {
        var (found, place, budget): ([String: HeldRecord], Int, Int) = ([:], 0, .max)
        _ = keeper.fleet.records.visit(from: &place, budget: &budget) { found[$0.text] = $1 }
        return found
    }

    @Test("is there after a restart: the newest record of each key, without those that were removed, and the position")
    func restores() throws {
        let (a, b) = (try Key("a"), try Key("b"))
        let unusual = try record(9, #",null,true,true,"\#(id(3).text)",{"newer":"[1,{\"a\":2}]"}"#)
        do {
            let keeper = try open()
            #expect(keeper.fleet.position == nil)
            try commit(.set(a, record(7)), .set(b, record(8)), at: 8, keeper)
            try commit(.set(a, unusual), .remove(b), at: 9, keeper)
        }
        let keeper = try open()
        #expect(records(keeper) == ["a": unusual])
        #expect(keeper.fleet.position == (try position(9)))
    }

    @Test("is not the position while a snapshot is read")
    func snapshot() throws {
        do {
            let keeper = try open()
            try commit(.set(Key("a"), record(7)), at: 7, keeper)
            try keeper.store.commit(Changes(fleet: FleetChanges(position: .some(nil))), comparing: true)
        }
        let keeper = try open()
        #expect(keeper.fleet.position == nil)
        #expect(records(keeper).isEmpty)
        // The records do not come back with the next position.
        try commit(at: 8, keeper)
        #expect(records(try scene.crashAndOpen(keeper)).isEmpty)
    }

    @Test("is in a base, with records that changed while it was written, and goes on behind it")
    func base() throws {
        scene.thresholds.tolerated = 1_000
        var fleet = StoredFleet()
        let keeper = try open()
        for number in Int64(1)...300 {
            let (key, held) = (try Key("\(number % 150)"), try record(number))
            fleet.records.set(held, under: key)
            fleet.position = try position(number)
            try commit(.set(key, held), at: number, keeper)
        }
        while keeper.store.bases == 0 { #expect(keeper.step(fleet: fleet, lines: 16, at: scene.now)) }
        let (key, held) = (try Key("7"), try record(301))
        fleet.records.set(held, under: key)
        fleet.position = try position(301)
        try commit(.set(key, held), at: 301, keeper)
        keeper.work(fleet: fleet, at: scene.now)
        #expect(try scene.log.names.contains { $0.hasSuffix(".base") })
        let found = try scene.crashAndOpen(keeper)
        #expect(found.fleet.position == (try position(301)))
        #expect(records(found).count == 150)
        #expect(records(found)["7"] == held)
    }

    enum Loss: CaseIterable {
        case malformedRecord, unusableRecord, malformedCountdown, daemonWithoutFleet
    }

    @Test("counts as lost if a line cannot be used, or a daemon without a fleet had the log", arguments: Loss.allCases)
    func losses(_ loss: Loss) throws {
        do {
            let keeper = try open()
            try keeper.turn(.start("a"), at: scene.now)
            try commit(.set(Key("a"), record(7)), at: 7, keeper)
        }
        switch loss {
        case .malformedRecord: try scene.log.edit(#"["record""#) { $0.replacing("0123", with: "nobody") }
        case .unusableRecord:
            try scene.log.edit(#"["record""#) { $0.replacing(",1750000060000000,false,false", with: "") }
        case .malformedCountdown: try scene.log.edit("a", [2: "9"])
        case .daemonWithoutFleet:
            scene.followsEngine = false
            do { try scene.open().turn(.start("b"), at: scene.now) }
        }
        for _ in 1...2 {
            let keeper = try open()
            #expect(keeper.fleet.position == nil)
            #expect(records(keeper).isEmpty)
        }
    }

    @Test("has the oldest revision with the changes of the turn, if the history was trimmed")
    func trims() throws {
        let keeper = try open()
        try keeper.turn(.start("a"), at: scene.now)
        keeper.timetable.trimHistory()
        let revision = keeper.timetable.oldestRevision
        try keeper.store.commit(Changes(fleet: FleetChanges(oldest: revision)), comparing: true)
        #expect(try scene.crashAndOpen(keeper).timetable.oldestRevision >= revision)
    }

    @Test("is no line in the log of a daemon without a fleet")
    func paysNothing() throws {
        do { try scene.open().turn(.start("a"), at: scene.now) }
        #expect(try scene.log.lines().allSatisfy { !$0.contains("fleet") && !$0.contains("record") })
    }

    @Test("lets an elapsed countdown end by the engine's clock, also after a restart")
    func keepsDeadline() throws {
        let deadline = scene.now.wall + .seconds(60)
        do {
            let keeper = try open()
            let countdown = KeyedCountdown(
                key: try Key("a"),
                phase: .running(until: .wall(deadline)),
                clock: .elapsed,
                duration: .seconds(60),
                started: scene.now.wall,
                revision: Revision(0)
            )
            let applied = keeper.timetable.applyRemote(.countdown(countdown, .started, isSameRun: false), at: scene.now)
            try keeper.store.commit(Changes(steps: applied), comparing: true)
        }
        scene.pass(.seconds(10), thenSetBy: .seconds(5))
        let keeper = try open()
        let countdown = try #require(try keeper["a"])
        #expect(countdown.clock == .elapsed)
        #expect(countdown.phase == .running(until: .wall(deadline)))
    }
}
