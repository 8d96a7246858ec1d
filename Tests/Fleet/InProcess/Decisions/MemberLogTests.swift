import Testing

@testable import CountdownCore
@testable import Fleet

@Suite("The log of a member")
struct MemberLogTests {
    let scene = Scene()
    private let k = key("k")

    @Test("an answer above the cursor waits until the log is level, and the log is read again if that takes long")
    func gap() {
        scene.call(1, .start(key: "other"))
        scene.exchange(1)
        let call = scene.call(0, .start())[0]
        scene.exchange(0)
        #expect(scene.word(call) == nil)
        #expect(scene.hosts[0].timetable.revision == Revision(0))
        let patience = scene.hosts[0].member.options.gapPatience
        #expect(scene.hosts[0].member.next(at: scene.time) == noon + patience)
        scene.pass(patience)
        scene.turn(0)
        scene.follow(0)
        #expect(scene.word(call) == "started")
        #expect(scene.hosts[0].changes.map(\.countdown.key) == [key("other"), k])
        #expect(scene.hosts[0].member.next(at: scene.time).map { $0 > scene.now } ?? true)
    }

    @Test("a message with a gap is not applied until the gap is filled, and the log is read again if that takes long")
    func lostMessage() {
        scene.call(1, .start(key: "a"), .start(key: "b"))
        scene.exchange(1)
        let entries = scene.engine.entries(after: LogVersion(noon.microseconds + 1))
        scene.turn(0) { $0.receive(.changes(entries), at: scene.time) }
        #expect(scene.hosts[0].changes.isEmpty)
        #expect(scene.hosts[0].opening == nil)
        scene.pass(scene.hosts[0].member.options.gapPatience)
        scene.turn(0)
        #expect(scene.hosts[0].opening?.after?.version == LogVersion(noon.microseconds))
        scene.follow(0)
        #expect(scene.hosts[0].changes.map(\.countdown.key.text) == ["a", "b"])
        #expect(scene.hosts[0].member.cursor.isLive)
    }

    @Test("changes that the host has won fill the gaps of a stream that leaves them out, in any order")
    func leftOut() {
        scene.call(1, .start(key: "before"))
        scene.exchange(1)
        let calls = scene.call(0, .start(key: "own"))
        scene.exchange(0)
        scene.call(1, .start(key: "after"))
        scene.exchange(1)
        #expect(calls.map(scene.word) == [nil])
        let entries = scene.engine.entries(after: LogVersion(noon.microseconds))
        #expect(entries.map(\.key.text) == ["before", "own", "after"])
        scene.turn(0) { $0.receive(.changes([entries[2]]), at: scene.time) }
        #expect(scene.hosts[0].changes.isEmpty)
        scene.turn(0) { $0.receive(.changes([entries[0]]), at: scene.time) }
        #expect(scene.hosts[0].changes.map(\.countdown.key.text) == ["before", "own", "after"])
        #expect(calls.map(scene.word) == ["started"])
        #expect(scene.hosts[0].member.cursor.position?.version == scene.engine.version)
        #expect(scene.hosts[0].opening == nil)
    }

    @Test("a change that won ahead of the cursor and was lost in a failover is unknown")
    func wonAndLost() {
        let backup = scene.engine
        scene.call(1, .start(key: "other"))
        scene.exchange(1)
        let call = scene.call(0, .start())[0]
        scene.exchange(0)
        #expect(scene.word(call) == nil)
        scene.engine = backup
        scene.cut(0)
        scene.reopen(0)
        #expect(scene.word(call) == "unknown")
        #expect(scene.hosts[0].changes.isEmpty)
        scene.cut(1)
        scene.reopen(1)
        #expect(scene.hosts[1].member.cursor.isLive)
        #expect(scene.hosts[1].changes.map(\.kind) == [.started, .cancelled])
        #expect(scene.hosts[1].notes.contains(.snapshot(.diverged)))
    }

    @Test("a change that wins where the log has been read already, and was not there, means another history")
    func wonBelowCursor() {
        let backup = scene.engine
        scene.call(0, .start(key: "lost"), .start(key: "gone"))
        scene.exchange(0)
        // The connection stays, so the stream says nothing.
        scene.engine = backup
        let call = scene.call(0, .start())[0]
        scene.exchange(0)
        #expect(scene.word(call) == "unknown")
        #expect(scene.hosts[0].member.cursor.state == .snapshot(.diverged))
        scene.follow(0)
        #expect(Set(scene.hosts[0].live(at: scene.time).keys) == [k])
        let next = scene.call(0, .pause(k))[0]
        scene.exchange(0)
        #expect(scene.word(next) == "paused")
    }

    @Test("two branches of the log with equal versions are told apart by their IDs")
    func branches() {
        let backup = scene.engine
        scene.call(0, .start(label: "lost"), .start(key: "gone"))
        scene.exchange(0)
        scene.engine = backup
        scene.call(1, .start(label: "kept"), .start(key: "new"))
        scene.exchange(1)
        #expect(scene.hosts[0].member.cursor.position?.version == scene.engine.version)
        let revision = scene.hosts[0].timetable.revision
        scene.cut(0)
        scene.reopen(0)
        #expect(scene.hosts[0].live(at: scene.time) == scene.hosts[1].live(at: scene.time))
        #expect(scene.hosts[0].member.cursor.stored == scene.engine.position)
        #expect(!scene.hosts[0].canResume(after: revision))
        let kinds = scene.hosts[0].changes.map { "\($0.countdown.key.text) \($0.kind)" }
        #expect(Set(kinds) == ["k started", "gone started", "k finished", "gone cancelled", "new started"])
        #expect(scene.hosts[0].notes.contains(.snapshot(.diverged)))
    }

    @Test("an entry below the cursor with another ID, and no record for a live countdown, mean another history")
    func divergence() {
        scene.call(0, .start())
        scene.exchange(0)
        let other = LogEntry(
            key: k,
            version: scene.engine.version,
            id: ProposalID(host: HostID(9, 9), number: 1),
            record: scene.engine.log[0].record
        )
        scene.turn(0) { $0.receive(.changes(scene.engine.log), at: scene.time) }
        #expect(scene.hosts[0].member.cursor.isLive)
        scene.turn(0) { $0.receive(.changes([other]), at: scene.time) }
        #expect(scene.hosts[0].member.cursor.state == .snapshot(.diverged))
        scene.follow(0)
        #expect(scene.hosts[0].member.cursor.isLive)
        #expect(scene.hosts[0].changes.count == 1)
        let call = scene.call(0, .pause(k))[0]
        scene.engine = Engine(at: noon)
        scene.exchange(0)
        #expect(scene.word(call) == "unknown")
        scene.follow(0)
        #expect(scene.hosts[0].changes.last?.kind == .cancelled)
    }

    @Test("a snapshot cancels what it does not hold, a few at a time, and older records are skipped")
    func snapshot() {
        for number in 0..<5 { scene.call(0, .start(key: "old/\(number)")) }
        scene.exchange(0)
        scene.engine = Engine(at: noon + .seconds(1))
        scene.cut(0)
        scene.turn(0) { $0.reopen() }
        scene.turn(0) { $0.receive(.diverged, at: scene.time) }
        let start = LogCursor.Position(version: LogVersion(100), id: nil)
        let newer = entry(103, #""label":"newer""#)
        scene.turn(0) { $0.receive(.page([newer], start), at: scene.time) }
        let older = entry(102, #""label":"older""#)
        scene.turn(0) { $0.receive(.page([older], start), at: scene.time) }
        #expect(scene.hosts[0].countdown(under: k)?.label == "newer")
        let log = [entry(101, #""label":"oldest""#), older, newer, entry(104, #""label":"newest""#)]
        scene.turn(0) { $0.receive(.changes(log), at: scene.time) }
        #expect(scene.hosts[0].countdown(under: k)?.label == "newest")
        scene.turn(0, budget: 1) { $0.receive(.live, at: scene.time) }
        #expect(scene.hosts[0].timetable.liveCount == 5)
        #expect(scene.hosts[0].member.cursor.stored == nil)
        #expect(scene.hosts[0].member.next(at: scene.time) == scene.now)
        for _ in 0..<7 { scene.turn(0, budget: 1) }
        #expect(scene.hosts[0].timetable.liveCount == 1)
        #expect(scene.hosts[0].member.cursor.stored?.version == LogVersion(104))
        #expect(scene.hosts[0].changes.filter { $0.kind == .cancelled }.count == 5)
    }

    @Test("what was stored with the cursor is enough to go on after a restart")
    func restart() {
        scene.call(0, .start(), .start(key: "other"))
        scene.exchange(0)
        let stored = scene.hosts[0].stored
        #expect(stored.records.count == 2)
        let host = FleetHost(1, start: 1, stored: stored)
        #expect(host.opening?.after == scene.engine.position)
        host.turn(at: scene.time) { $0.receive(.resumed, at: scene.time) }
        host.turn(at: scene.time) { $0.receive(.live, at: scene.time) }
        host.turn(at: scene.time) { $0.member.call(1, .pause(k), at: scene.time) }
        let proposals = host.member.takeProposals()
        #expect(proposals.first?.expected == scene.engine.records[k]?.id)
        #expect(scene.engine.propose(proposals, at: scene.now) == [.won(LogVersion(noon.microseconds + 3))])
        // Ended records are given up once the engine may have removed them, and no call is in flight.
        host.turn(at: engineTime(noon + .seconds(661)))
        #expect(Array(host.records.keys) == [k])
    }

    @Test("a snapshot after a restart without the stored records announces only what has changed meanwhile")
    func restartWithoutRecords() {
        scene.call(0, .start(1, key: "short"), .start(60, key: "same"), .start(60, key: "longer"))
        scene.exchange(0)
        scene.deliver(1)
        scene.pass(.seconds(2))
        scene.turn(1)
        var stored = scene.hosts[1].stored
        #expect(stored.changes.count == 4)
        (stored.records, stored.position) = ([:], nil)
        scene.call(0, .start(60, .extend, key: "longer"))
        scene.exchange(0)
        let host = FleetHost(2, start: 1, stored: stored)
        let records = Array(scene.engine.records.values)
        host.turn(at: scene.time) { $0.receive(.page(records, scene.engine.position), at: scene.time) }
        host.turn(at: scene.time) { $0.receive(.live, at: scene.time) }
        #expect(host.member.cursor.isLive)
        #expect(host.changes.dropFirst(4).map(\.kind) == [.adjusted])
        #expect(host.live(at: scene.time) == scene.hosts[0].live(at: scene.time))
        #expect(host.records.count == 3)
    }

    @Test("a snapshot stores the records again if the stored ones are lost, and otherwise only those that have changed")
    func storesAgain() {
        let host = scene.hosts[0]
        scene.call(0, .start(), .start(key: "other"))
        scene.exchange(0)
        let records = host.records
        scene.cut(0)
        scene.call(1, .start(key: "missed"))
        scene.exchange(1)
        scene.engine.trimLog(to: 0)
        scene.reopen(0)
        #expect(host.notes.contains(.snapshot(.trimmed)))
        #expect(host.records.merging(records) { $1 } == host.records)
        #expect(host.records.count == 3)
        scene.turn(0) { $0.loseStore() }
        scene.follow(0)
        #expect(host.member.cursor.isLive)
        #expect(Set(host.records.keys) == [k, key("other"), key("missed")])
        #expect(host.changes.map(\.kind) == [.started, .started, .started])
        #expect(FleetHost(1, start: 1, stored: host.stored).opening?.after == scene.engine.position)
    }

    @Test("a record that cannot be used leaves its key alone, until the engine has removed it")
    func unusable() throws {
        let id = ProposalID(host: HostID(9, 9), number: 1)
        let version = LogVersion(noon.microseconds + 1)
        let newer = LogEntry(key: k, version: version, id: id, record: Array(#"{"format":2}"#.utf8))
        scene.turn(0) { $0.receive(.changes([newer]), at: scene.time) }
        #expect(scene.hosts[0].notes.last == .unusable(k, .newerFormat(2)))
        let calls = scene.call(0, .start(), .start(60, .wait), .start(key: "other"))
        let proposals = scene.take(0)
        #expect(proposals.map(\.expected) == [id, nil])
        scene.answer(0, [.won(version), .won(LogVersion(version.number + 1))], to: proposals)
        #expect(calls.map(scene.word) == ["notMade", "notMade", "started"])
        let again = scene.call(0, .start())[0]
        scene.answer(0, [.conflict(nil)], to: scene.take(0))
        #expect(scene.take(0).map(\.expected) == [nil])
        #expect(scene.word(again) == nil)
    }

    @Test("a call for a key whose record another program has written is told so, and sent once")
    func foreign() {
        scene.call(0, .start())
        scene.exchange(0)
        let foreign = LogEntry(key: k, version: LogVersion(0), id: .foreign, record: [])
        let calls = scene.call(0, .pause(k), .cancel(k))
        scene.answer(0, [.conflict(foreign), .conflict(foreign)], to: scene.take(0))
        let told = CallResult.notMade(RecordFault.foreign.text)
        #expect(calls.map(scene.result) == [told, told])
        #expect(scene.take(0).isEmpty)
        // A key that is not known here.
        let other = LogEntry(key: key("other"), version: LogVersion(0), id: .foreign, record: [])
        for _ in 0..<2 {
            let call = scene.call(0, .start(key: "other"))[0]
            scene.answer(0, [.conflict(other)], to: scene.take(0))
            #expect(scene.result(call) == told)
            #expect(scene.take(0).isEmpty)
        }
        // The record was removed.
        let call = scene.call(0, .start(key: "other"))[0]
        scene.answer(0, [.conflict(nil)], to: scene.take(0))
        scene.exchange(0)
        #expect(scene.word(call) == "started")
    }

    @Test("members that this version does not know are kept by a change, and not by a new start")
    func unknownMembers() {
        let entry = entry(noon.microseconds + 1, #""owner":"b""#)
        scene.turn(0) { $0.receive(.changes([entry]), at: scene.time) }
        scene.call(0, .pause(k), .cancel(k), .start())
        let records = scene.take(0).compactMap(\.record).map { String(decoding: $0, as: UTF8.self) }
        #expect(records.map { $0.contains(#""owner":"b""#) } == [true, true, false])
        #expect(records.map { $0.contains(#""run":"\#(entry.id.text)""#) } == [true, true, false])
    }

    /// An entry of another host: a running countdown with these members.
    private func entry(_ version: Int64, _ members: String) -> LogEntry {
        let json = """
            {"kind":"started","state":"running","deadline":\((noon + .seconds(60)).microseconds),"clock":"elapsed",\
            "duration":60000000,"start":\(noon.microseconds),\(members)}
            """
        let id = ProposalID(host: HostID(9, 9), number: UInt64(version))
        return LogEntry(key: k, version: LogVersion(version), id: id, record: Array(json.utf8))
    }
}
