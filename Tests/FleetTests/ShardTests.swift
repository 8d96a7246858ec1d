import Testing

@testable import CountdownCore
@testable import Fleet

@Suite("Calls of a shard")
struct ShardTests {
    let scene = Scene()
    private let k = key("k")

    // MARK: Deciding

    @Test("one host starts a key, another one attaches, and the conflict is the confirmation")
    func oneWinner() {
        let first = scene.call(0, .start(label: "a"))[0]
        let second = scene.call(1, .start(label: "b"))[0]
        scene.exchange(0)
        #expect(scene.word(first) == "started")
        #expect(scene.exchange(1) == 1)
        #expect(scene.word(second) == nil)
        scene.deliver(1)
        #expect(scene.word(second) == "attached")
        #expect(scene.take(1).isEmpty)
        guard case .attached(let countdown) = scene.result(second) else { return }
        #expect(countdown.label == "a")
    }

    @Test("calls for one key in one turn are a chain, each decided on the one before")
    func chain() {
        let calls = scene.call(0, .start(), .pause(k), .adjust(k, .by(.seconds(5))), .resume(k), .cancel(k), .cancel(k))
        let proposals = scene.take(0)
        #expect(proposals.map { $0.record == nil } == [false, false, false, false, false, true])
        #expect(zip(proposals, proposals.dropFirst()).allSatisfy { $0.id == $1.expected })
        #expect(scene.hosts[0].timetable.revision == Revision(0))
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        #expect(calls.map(scene.word) == ["started", "paused", "adjusted", "resumed", "cancelled", "refused"])
        guard case .changed(_, let countdown) = scene.result(calls[2]) else { return }
        #expect(countdown.revision == Revision(3))
        #expect(countdown.remaining(at: scene.time) == .seconds(65))
        guard case .refused(.wrongState(let refused)) = scene.result(calls[5]) else { return }
        #expect(refused.revision == Revision(5))
    }

    @Test("identical confirmations are one proposal, and 64 proposals are sent at once")
    func merged() {
        let calls = (0..<100).map { scene.call(0, .start(label: "\($0)"))[0] }
        #expect(scene.exchange(0) == 2)
        #expect(calls.filter { scene.word($0) == "started" }.count == 1)
        #expect(calls.filter { scene.word($0) == "attached" }.count == 99)
        for number in 0..<70 { scene.call(0, .start(key: "many/\(number)")) }
        #expect(scene.take(0).count == 64)
        #expect(scene.take(0).count == 6)
        #expect(scene.take(0).isEmpty)
    }

    @Test("a call for a key in flight is decided when that settles, a revision is never compared with a proposal")
    func oneFlight() {
        let first = scene.call(0, .start())[0]
        let proposals = scene.take(0)
        let later = scene.call(0, .pause(k), .cancel(k, ifRevision: Revision(2)))
        #expect(scene.take(0).isEmpty)
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        #expect(scene.word(first) == "started")
        #expect(scene.take(0).count == 1)
        #expect(scene.word(later[1]) == nil)
    }

    @Test("a change shortly before the deadline waits for it, and begins not before it")
    func margin() {
        scene.call(0, .start(10))
        scene.exchange(0)
        scene.deliver(1)
        scene.pass(.milliseconds(9_951))
        let call = scene.call(1, .start(60, .extend, label: "late"))[0]
        #expect(scene.take(1).isEmpty)
        #expect(scene.hosts[1].shard.next(at: scene.time) == noon + .seconds(10))
        scene.pass(.milliseconds(49))
        scene.turn(1)
        let proposals = scene.take(1)
        #expect(proposals.first?.window.notBefore == noon + .seconds(10))
        // The engine's clock is behind.
        let early = scene.engine.propose(proposals, at: scene.now - .milliseconds(3))
        #expect(early == [.early])
        scene.answer(1, early, to: proposals)
        scene.pass(.milliseconds(1))
        scene.turn(1)
        scene.exchange(1)
        #expect(scene.word(call) == "started")
        #expect(scene.hosts[1].changes.map(\.kind) == [.started, .finished, .started])
    }

    @Test("a change that arrives late is decided again after the expiry")
    func late() {
        scene.call(0, .start(1))
        scene.exchange(0)
        scene.pass(.milliseconds(900))
        let call = scene.call(0, .start(60, .restart))[0]
        let proposals = scene.take(0)
        #expect(proposals.first?.window.notAfter == noon + .milliseconds(950))
        scene.pass(.milliseconds(60))
        let answers = scene.engine.propose(proposals, at: scene.now)
        #expect(answers == [.late])
        scene.answer(0, answers, to: proposals)
        #expect(scene.take(0).isEmpty)
        scene.pass(.milliseconds(40))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(call) == "started")
    }

    @Test("from the fourth conflict on, a call pauses at random, for 2 s in all")
    func backOff() {
        let call = scene.call(0, .start())[0]
        var rounds = 0
        var pauses = 0
        while scene.word(call) == nil, rounds < 2_000 {
            rounds += 1
            let proposals = scene.take(0)
            guard !proposals.isEmpty else {
                pauses += 1
                guard let next = scene.hosts[0].shard.next(at: scene.time) else { break }
                scene.pass(max(.microseconds(1), next - scene.now))
                scene.turn(0)
                continue
            }
            if rounds <= 3 { #expect(pauses == 0) }
            scene.answer(0, [.conflict(nil)], to: proposals)
        }
        #expect(scene.word(call) == "notMade")
        #expect(scene.now == noon + .seconds(2))
        #expect((20...500).contains(pauses))
        #expect(scene.hosts[0].shard.calls == 0)
    }

    // MARK: What may have been made

    @Test("an unknown change that the log has was made")
    func unknownInLog() {
        let call = scene.call(0, .start())[0]
        let proposals = scene.take(0)
        _ = scene.engine.propose(proposals, at: scene.now)
        scene.cut(0)
        scene.answer(0, [.unknown("cut")], to: proposals)
        #expect(scene.word(call) == nil)
        scene.reopen(0)
        #expect(scene.word(call) == "started")
        #expect(scene.take(0).isEmpty)
    }

    @Test("an unknown change that the log does not have is sent again under the same ID, and made once")
    func resent() {
        scene.call(0, .start())
        scene.exchange(0)
        let call = scene.call(0, .start(60, .extend))[0]
        let proposals = scene.take(0)
        scene.cut(0)
        scene.answer(0, [.unknown("cut")], to: proposals)
        scene.reopen(0)
        #expect(scene.take(0) == proposals)
        // The first copy was delayed.
        _ = scene.engine.propose(proposals, at: scene.now)
        let answers = scene.engine.propose(proposals, at: scene.now)
        scene.answer(0, answers, to: proposals)
        #expect(scene.word(call) == "adjusted")
        #expect(scene.engine.log.count == 2)
        #expect(scene.hosts[0].countdown(under: k)?.remaining(at: scene.time) == .seconds(120))
    }

    @Test("after 2 s an unknown change is unknown, and a confirmation is answered from the cache")
    func patience() {
        scene.call(0, .start())
        scene.exchange(0)
        let calls = scene.call(0, .pause(k), .resume(k), .resume(k))
        let proposals = scene.take(0)
        #expect(proposals.count == 3)
        scene.pass(.seconds(2))
        scene.turn(0)
        #expect(calls.map(scene.word) == ["unknown", "unknown", "refused"])
        // It goes on, and the next calls wait for it.
        let next = scene.call(0, .cancel(k))[0]
        #expect(scene.take(0).isEmpty)
        scene.answer(0, [.unknown("cut"), .unknown("cut"), .unknown("cut")], to: proposals)
        #expect(scene.word(next) == nil)
    }

    @Test("a change that was not sent is not made; one that was sent before stays unknown")
    func unreachable() {
        let first = scene.call(0, .start())[0]
        scene.answer(0, [.unreachable("refused")], to: scene.take(0))
        #expect(scene.result(first) == .notMade("refused"))
        let second = scene.call(0, .start())[0]
        scene.answer(0, [.unknown("cut")], to: scene.take(0))
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.answer(0, [.unreachable("refused")], to: scene.take(0))
        #expect(scene.word(second) == nil)
        scene.pass(.seconds(2))
        scene.turn(0)
        #expect(scene.word(second) == "unknown")
    }

    @Test("answers that are missing count as unknown, and answers to nothing are ignored")
    func missingAnswers() {
        let call = scene.call(0, .start())[0]
        let proposals = scene.take(0)
        scene.answer(0, [], to: proposals)
        #expect(scene.word(call) == nil)
        scene.answer(1, [.won(Version(.max))], to: proposals)
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(call) == "started")
        scene.answer(0, [.conflict(nil)], to: proposals)
        #expect(scene.hosts[0].shard.cursor.isLive)
    }

    @Test("too few acknowledgements leave a change unknown, and an acknowledged change after it confirms it")
    func acknowledgements() {
        var options = Shard.Options()
        options.needsAcknowledgements = true
        let scene = Scene(hosts: 1, options: options)
        let calls = scene.call(0, .start(), .pause(k))
        let proposals = scene.take(0)
        let answers = scene.engine.propose(proposals, at: scene.now)
        let versions = [Version(noon.microseconds + 1), Version(noon.microseconds + 2)]
        #expect(answers == versions.map { .won($0) })
        scene.answer(0, versions.map { .unacknowledged($0) }, to: proposals)
        #expect(calls.map(scene.word) == ["unknown", "unknown"])
        #expect(scene.hosts[0].countdown(under: k)?.isLive == true)
        let more = scene.call(0, .resume(k), .pause(k))
        let next = scene.take(0)
        _ = scene.engine.propose(next, at: scene.now)
        scene.deliver(0)
        scene.answer(0, next.map { _ in .unknown("cut") }, to: next)
        #expect(more.map(scene.word) == [nil, nil])
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.exchange(0)
        #expect(more.map(scene.word) == ["resumed", "paused"])
    }

    // MARK: Without the engine

    @Test("while the shard is lost, a change is not made, and an attached start and a refusal come from the cache")
    func lost() {
        scene.call(0, .start())
        scene.exchange(0)
        scene.cut(0)
        let calls = scene.call(0, .start(), .start(60, .fail), .cancel(k), .start(key: "other"), .start(60, .wait))
        #expect(calls.map(scene.word) == ["attached", "refused", "notMade", "notMade", nil])
        #expect(scene.take(0).isEmpty)
        scene.pass(.seconds(60))
        scene.turn(0)
        #expect(scene.hosts[0].changes.map(\.kind) == [.started, .finished])
        // The queue is kept.
        scene.pass(.milliseconds(20))
        scene.reopen(0)
        scene.exchange(0)
        #expect(scene.word(calls[4]) == "started")
    }

    @Test("while the shard is lost, a call behind one in flight is answered at once, and that one stays unknown")
    func lostBehindFlight() {
        let first = scene.call(0, .start())[0]
        let proposals = scene.take(0)
        let later = scene.call(0, .start(60, .restart))[0]
        #expect(scene.word(later) == nil)
        scene.cut(0)
        scene.answer(0, proposals.map { _ in .unknown("the bridge is gone") }, to: proposals)
        #expect(scene.word(later) == "notMade")
        #expect(scene.word(first) == nil)
        scene.pass(.seconds(2))
        scene.turn(0)
        #expect(scene.word(first) == "unknown")
    }

    @Test("a host that knows nothing and has lost its stream refuses calls at once, and says why")
    func unknownWithoutStream() {
        let host = FleetHost(7)
        host.turn(at: scene.time) { $0.shard.receive(.lost("there is no bridge"), &$0.timetable, at: scene.time) }
        host.turn(at: scene.time) { $0.shard.call(1, .start(), at: scene.time) }
        #expect(host.results[1]?.result == .notMade("the fleet's engine cannot be reached: there is no bridge"))
        #expect(host.shard.silenceReason == "the fleet's engine cannot be reached: there is no bridge")
    }

    @Test("with refusesWithoutEngine, nothing is answered from the cache while the shard is lost")
    func refusing() {
        scene.call(0, .start())
        scene.exchange(0)
        scene.hosts[0].shard.options.refusesWithoutEngine = true
        #expect(scene.hosts[0].shard.silenceReason == nil)
        scene.cut(0)
        #expect(scene.hosts[0].shard.silenceReason != nil)
        let calls = scene.call(0, .start(), .cancel(k))
        #expect(calls.map(scene.word) == ["notMade", "notMade"])
    }

    @Test("until the first snapshot is read, calls wait, for 2 s")
    func unknownState() {
        let host = FleetHost(7)
        host.turn(at: scene.time) { $0.shard.call(1, .start(), at: scene.time) }
        #expect(host.results.isEmpty)
        host.turn(at: engineTime(noon + .seconds(2)))
        guard case .notMade = host.results[1]?.result else {
            Issue.record("\(host.results)")
            return
        }
    }

    @Test("too many calls are refused, and a call whose client is gone is not made")
    func limits() {
        var options = Shard.Options()
        options.calls = 2
        let scene = Scene(hosts: 1, options: options)
        scene.call(0, .start())
        _ = scene.take(0)
        let calls = scene.call(0, .pause(k), .cancel(k))
        #expect(calls.map(scene.word) == [nil, "notMade"])
        scene.turn(0) { $0.shard.withdraw(calls[0], of: k) }
        #expect(scene.hosts[0].shard.calls == 1)
        scene.pass(.seconds(3))
        scene.turn(0)
        #expect(scene.hosts[0].shard.calls == 0)
        #expect(scene.word(calls[0]) == nil)
        options.callBytes = 600
        let narrow = Scene(hosts: 1, options: options)
        #expect(narrow.call(0, .start(label: String(repeating: "x", count: 99))).map(narrow.word) == ["notMade"])
    }
}

@Suite("The queue of a key in a fleet")
struct FleetQueueTests {
    private let k = key("k")

    @Test("only the first start is proposed, after the end, and may wait longer than other calls")
    func order() {
        let scene = Scene(hosts: 1)
        scene.call(0, .start(10))
        scene.exchange(0)
        let calls = scene.call(0, .start(10, .wait), .start(10, .wait), .start())
        scene.exchange(0)
        #expect(calls.map(scene.word) == [nil, nil, "attached"])
        scene.pass(.seconds(10))
        scene.turn(0)
        // This host has started the countdown that has just ended.
        #expect(scene.take(0).isEmpty)
        scene.pass(.milliseconds(20))
        scene.turn(0)
        let proposals = scene.take(0)
        #expect(proposals.map(\.window.notBefore) == [noon + .seconds(10)])
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        #expect(calls.map(scene.word) == ["started", nil, "attached"])
        let cancel = scene.call(0, .cancel(k))[0]
        scene.exchange(0)
        scene.pass(.milliseconds(20))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(cancel) == "cancelled")
        #expect(scene.word(calls[1]) == "started")
    }

    @Test("two hosts take turns, and a conflict returns a start to its place")
    func turns() {
        let scene = Scene()
        scene.call(0, .start(1))
        scene.exchange(0)
        scene.deliver(1)
        let calls = [
            scene.call(0, .start(1, .wait))[0], scene.call(1, .start(1, .wait))[0], scene.call(0, .start(1, .wait))[0],
            scene.call(1, .start(1, .wait))[0],
        ]
        var winners: [Int] = []
        for _ in 0..<400 where winners.count < 4 {
            scene.pass(.milliseconds(10))
            for host in [0, 1] {
                scene.turn(host)
                scene.exchange(host)
            }
            scene.deliverAll()
            for call in calls where scene.word(call) == "started" && !winners.contains(call) { winners.append(call) }
        }
        #expect(winners == [calls[1], calls[0], calls[3], calls[2]])
    }

    @Test("a start behind others is refused or waits, as on one machine; room lets the first one extend")
    func room() {
        let scene = Scene(hosts: 1)
        func start(_ ifLive: Request.IfLive) -> Request {
            .start(Request.Start(k, .after(.seconds(10)), ifLive: ifLive, upTo: .seconds(25)))
        }
        let calls = scene.call(0, start(.wait), start(.wait), start(.wait), start(.extend))
        scene.exchange(0)
        #expect(calls.map(scene.word) == ["started", "adjusted", nil, "refused"])
        #expect(scene.hosts[0].shard.next(at: scene.time) == noon + .seconds(5))
        scene.pass(.seconds(5))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(calls[2]) == "adjusted")
    }
}

@Suite("The log of a shard")
struct ShardLogTests {
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
        #expect(scene.hosts[0].shard.next(at: scene.time) == noon + .milliseconds(10))
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.follow(0)
        #expect(scene.word(call) == "started")
        #expect(scene.hosts[0].changes.map(\.countdown.key) == [key("other"), k])
        #expect(scene.hosts[0].shard.next(at: scene.time).map { $0 > scene.now } ?? true)
    }

    @Test("a message with a gap is not applied, and the log is read again")
    func lostMessage() {
        scene.call(1, .start(key: "a"), .start(key: "b"))
        scene.exchange(1)
        let entries = scene.engine.entries(after: Version(noon.microseconds + 1))
        scene.turn(0) { $0.receive(.changes(entries), at: scene.time) }
        #expect(scene.hosts[0].changes.isEmpty)
        #expect(scene.hosts[0].opening?.after?.version == Version(noon.microseconds))
        scene.follow(0)
        #expect(scene.hosts[0].changes.map(\.countdown.key.text) == ["a", "b"])
        #expect(scene.hosts[0].shard.cursor.isLive)
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
        #expect(scene.hosts[1].shard.cursor.isLive)
        #expect(scene.hosts[1].changes.map(\.kind) == [.started, .cancelled])
        #expect(scene.hosts[1].notes.contains(.snapshot(.diverged)))
    }

    @Test("two branches of the log with equal versions are told apart by their IDs")
    func branches() {
        let backup = scene.engine
        scene.call(0, .start(label: "lost"), .start(key: "gone"))
        scene.exchange(0)
        scene.engine = backup
        scene.call(1, .start(label: "kept"), .start(key: "new"))
        scene.exchange(1)
        #expect(scene.hosts[0].shard.cursor.position?.version == scene.engine.version)
        let revision = scene.hosts[0].timetable.revision
        scene.cut(0)
        scene.reopen(0)
        #expect(scene.hosts[0].live(at: scene.time) == scene.hosts[1].live(at: scene.time))
        #expect(scene.hosts[0].shard.cursor.stored == scene.engine.position)
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
        #expect(scene.hosts[0].shard.cursor.isLive)
        scene.turn(0) { $0.receive(.changes([other]), at: scene.time) }
        #expect(scene.hosts[0].shard.cursor.state == .snapshot(.diverged))
        scene.follow(0)
        #expect(scene.hosts[0].shard.cursor.isLive)
        #expect(scene.hosts[0].changes.count == 1)
        let call = scene.call(0, .pause(k))[0]
        scene.engine = Engine(at: noon)
        scene.exchange(0)
        #expect(scene.word(call) == "unknown")
        scene.follow(0)
        #expect(scene.hosts[0].changes.last?.kind == .cancelled)
    }

    @Test("a snapshot cancels what it does not hold, a few at a time, and older records are skipped")
    func snapshot() throws {
        for number in 0..<5 { scene.call(0, .start(key: "old/\(number)")) }
        scene.exchange(0)
        scene.engine = Engine(at: noon + .seconds(1))
        scene.cut(0)
        scene.turn(0) { $0.reopen() }
        scene.turn(0) { $0.receive(.diverged, at: scene.time) }
        let start = LogCursor.Position(version: Version(100), id: nil)
        let newer = try entry(103, label: "newer")
        scene.turn(0) { $0.receive(.page([newer], start), at: scene.time) }
        let older = try entry(102, label: "older")
        scene.turn(0) { $0.receive(.page([older], start), at: scene.time) }
        #expect(scene.hosts[0].countdown(under: k)?.label == "newer")
        let log = [try entry(101, label: "oldest"), older, newer, try entry(104, label: "newest")]
        scene.turn(0) { $0.receive(.changes(log), at: scene.time) }
        #expect(scene.hosts[0].countdown(under: k)?.label == "newest")
        scene.turn(0, budget: 1) { $0.receive(.live, at: scene.time) }
        #expect(scene.hosts[0].timetable.liveCount == 5)
        #expect(scene.hosts[0].shard.cursor.stored == nil)
        #expect(scene.hosts[0].shard.next(at: scene.time) == scene.now)
        for _ in 0..<7 { scene.turn(0, budget: 1) }
        #expect(scene.hosts[0].timetable.liveCount == 1)
        #expect(scene.hosts[0].shard.cursor.stored?.version == Version(104))
        #expect(scene.hosts[0].changes.filter { $0.kind == .cancelled }.count == 5)
    }

    @Test("what was stored with the cursor is enough to go on after a restart")
    func restart() {
        scene.call(0, .start(), .start(key: "other"))
        scene.exchange(0)
        let stored = scene.hosts[0].stored
        #expect(stored.entries.count == 2)
        let host = FleetHost(1, start: 1, stored: stored)
        #expect(host.opening?.after == scene.engine.position)
        host.turn(at: scene.time) { $0.receive(.resumed, at: scene.time) }
        host.turn(at: scene.time) { $0.receive(.live, at: scene.time) }
        host.turn(at: scene.time) { $0.shard.call(1, .pause(k), at: scene.time) }
        let proposals = host.shard.takeProposals()
        #expect(proposals.first?.expected == scene.engine.records[k]?.id)
        #expect(scene.engine.propose(proposals, at: scene.now) == [.won(Version(noon.microseconds + 3))])
        // Ended records are given up once the engine may have removed them, and no call is in flight.
        host.turn(at: engineTime(noon + .seconds(661)))
        #expect(Set(host.entries.keys) == [k])
    }

    @Test("a record that cannot be used leaves its key alone, until the engine has removed it")
    func unusable() throws {
        let id = ProposalID(host: HostID(9, 9), number: 1)
        let version = Version(noon.microseconds + 1)
        let newer = LogEntry(key: k, version: version, id: id, record: Array(#"{"format":2}"#.utf8))
        scene.turn(0) { $0.receive(.changes([newer]), at: scene.time) }
        #expect(scene.hosts[0].notes.last == .unusable(k, .newerFormat(2)))
        let calls = scene.call(0, .start(), .start(60, .wait), .start(key: "other"))
        let proposals = scene.take(0)
        #expect(proposals.map(\.expected) == [id, nil])
        scene.answer(0, [.won(version), .won(Version(version.number + 1))], to: proposals)
        #expect(calls.map(scene.word) == ["notMade", "notMade", "started"])
        let again = scene.call(0, .start())[0]
        scene.answer(0, [.conflict(nil)], to: scene.take(0))
        #expect(scene.take(0).map(\.expected) == [nil])
        #expect(scene.word(again) == nil)
    }

    @Test("members that this version does not know are kept by a change, and not by a new start")
    func unknownMembers() throws {
        let json = """
            {"kind":"started","state":"running","deadline":\((noon + .seconds(60)).microseconds),"clock":"elapsed",\
            "duration":60000000,"start":\(noon.microseconds),"owner":"b"}
            """
        let id = ProposalID(host: HostID(9, 9), number: 1)
        let entry = LogEntry(key: k, version: Version(noon.microseconds + 1), id: id, record: Array(json.utf8))
        scene.turn(0) { $0.receive(.changes([entry]), at: scene.time) }
        scene.call(0, .pause(k), .cancel(k), .start())
        let records = scene.take(0).compactMap(\.record).map { String(decoding: $0, as: UTF8.self) }
        #expect(records.map { $0.contains(#""owner":"b""#) } == [true, true, false])
        #expect(records.map { $0.contains(#""run":"\#(id.text)""#) } == [true, true, false])
    }

    private func entry(_ version: Int64, label: String) throws -> LogEntry {
        let countdown = KeyedCountdown(
            key: k,
            phase: .paused(remaining: .seconds(9)),
            clock: .elapsed,
            duration: .seconds(9),
            started: noon,
            label: label,
            revision: Revision(0)
        )
        let run = ProposalID(host: HostID(9, 9), number: 1)
        let record = Record(
            Change(kind: .paused, countdown: countdown, replaced: nil),
            run: run,
            unknown: [],
            at: scene.time
        )
        let id = ProposalID(host: HostID(9, 9), number: UInt64(version))
        return LogEntry(key: k, version: Version(version), id: id, record: record.json)
    }
}
