import Testing

@testable import CountdownCore
@testable import Fleet

@Suite("Calls of a member that is cut off")
struct MemberLossTests {
    let scene = Scene()
    private let k = key("k")

    // MARK: Changes that may have been made

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

    @Test("after 2 s an unknown change is unknown, and so is what was decided on it; an attached start is not")
    func patience() {
        scene.call(0, .start())
        scene.exchange(0)
        let calls = scene.call(0, .pause(k), .resume(k), .resume(k))
        let proposals = scene.take(0)
        #expect(proposals.count == 3)
        scene.pass(.seconds(2))
        scene.turn(0)
        #expect(calls.map(scene.word) == ["unknown", "unknown", "unknown"])
        // It goes on, and the next calls wait for it.
        let next = scene.call(0, .cancel(k))[0]
        #expect(scene.take(0).isEmpty)
        scene.answer(0, [.unknown("cut"), .unknown("cut"), .unknown("cut")], to: proposals)
        #expect(scene.word(next) == nil)
        scene.call(1, .start(key: "other"))
        scene.exchange(1)
        scene.deliver(0)
        let others = scene.call(0, .start(key: "other"), .resume(key("other")))
        #expect(scene.take(0).count == 1)
        scene.pass(.seconds(2))
        scene.turn(0)
        #expect(others.map(scene.word) == ["attached", "notMade"])
    }

    @Test("what was decided on a change that is refused fails as that does")
    func refusedBasis() {
        scene.engine.isFull = true
        let chain = scene.call(0, .start(), .start(60, .fail), .start(), .resume(k), .pause(k), .pause(k))
        let proposals = scene.take(0)
        #expect(proposals.map { $0.record != nil } == [true, false, true, false])
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        #expect(chain.allSatisfy { scene.result($0) == .notMade("the engine is full") })
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
        scene.answer(1, [.won(LogVersion(.max))], to: proposals)
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(call) == "started")
        scene.answer(0, [.conflict(nil)], to: proposals)
        #expect(scene.hosts[0].member.cursor.isLive)
    }

    @Test("too few acknowledgements leave a change unknown, and an acknowledged change after it confirms it")
    func acknowledgements() {
        var options = Member.Options()
        options.needsAcknowledgements = true
        let scene = Scene(hosts: 1, options: options)
        let calls = scene.call(0, .start(), .pause(k))
        let proposals = scene.take(0)
        let answers = scene.engine.propose(proposals, at: scene.now)
        let versions = [LogVersion(noon.microseconds + 1), LogVersion(noon.microseconds + 2)]
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

    @Test("what was decided on a change that too few replicas have acknowledged is as unknown")
    func unacknowledgedBasis() {
        var options = Member.Options()
        options.needsAcknowledgements = true
        let scene = Scene(hosts: 1, options: options)
        let calls = scene.call(0, .start(), .start(), .start(60, .fail))
        let proposals = scene.take(0)
        let answers = scene.engine.propose(proposals, at: scene.now)
        #expect(answers.count == 2)
        let version = LogVersion(noon.microseconds + 1)
        scene.answer(0, [.unacknowledged(version), .won(version)], to: proposals)
        #expect(calls.map(scene.word) == ["unknown", "unknown", "unknown"])
    }

    // MARK: Without the engine

    @Test("while the engine is lost, a change is not made, and an attached start and a refusal come from the cache")
    func lost() {
        scene.call(0, .start())
        scene.exchange(0)
        scene.cut(0)
        let calls = scene.call(0, .start(), .start(60, .fail), .cancel(k), .start(key: "other"), .start(60, .wait))
        #expect(calls.map(scene.word) == ["attached", "refused", "notMade", "notMade", nil])
        // Elsewhere these may succeed.
        let other = key("other")
        let unknown = scene.call(0, .cancel(other), .pause(other), .finish(other), .adjust(other, .by(.seconds(1))))
        #expect((unknown + scene.call(0, .resume(k))).map(scene.word) == Array(repeating: "notMade", count: 5))
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

    @Test("while the engine is lost, a call behind one in flight is answered at once, and that one stays unknown")
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
        host.turn(at: scene.time) { $0.member.receive(.lost("there is no bridge"), &$0.timetable, at: scene.time) }
        host.turn(at: scene.time) { $0.member.call(1, .start(), at: scene.time) }
        #expect(host.results[1]?.result == .notMade("the fleet's engine cannot be reached: there is no bridge"))
        #expect(host.member.silenceReason == "the fleet's engine cannot be reached: there is no bridge")
    }

    @Test("with refusesWithoutEngine, nothing is answered from the cache while the engine is lost")
    func refusing() {
        scene.call(0, .start())
        scene.exchange(0)
        scene.hosts[0].member.options.refusesWithoutEngine = true
        #expect(scene.hosts[0].member.silenceReason == nil)
        scene.cut(0)
        #expect(scene.hosts[0].member.silenceReason != nil)
        let calls = scene.call(0, .start(), .cancel(k))
        #expect(calls.map(scene.word) == ["notMade", "notMade"])
    }

    @Test("until the first snapshot is read, calls wait, for 2 s")
    func unknownState() {
        let host = FleetHost(7)
        host.turn(at: scene.time) { $0.member.call(1, .start(), at: scene.time) }
        #expect(host.results.isEmpty)
        host.turn(at: engineTime(noon + .seconds(2)))
        guard case .notMade = host.results[1]?.result else {
            Issue.record("\(host.results)")
            return
        }
    }

    @Test(
        "if replicas acknowledge changes, the lost end of a history is taken back, and everything else stays as it is"
    )
    func takenBack() {
        var options = Member.Options()
        options.needsAcknowledgements = true
        let scene = Scene(hosts: 3, options: options)
        scene.call(0, .start(key: "kept"), .start(key: "cancelled"), .start(key: "paused"), .start(key: "changed"))
        scene.exchange(0)
        scene.deliverAll()
        let backup = scene.engine
        let revision = scene.hosts[1].timetable.revision
        scene.call(0, .start(key: "new"), .cancel(key("cancelled")), .pause(key("paused")), .cancel(key("changed")))
        scene.exchange(0)
        scene.deliver(1)
        // The third host has not followed the changes, and makes others.
        scene.engine = backup
        let other = scene.call(2, .pause(key("changed")), .start(key: "other"))
        scene.exchange(2)
        #expect(other.map(scene.word) == ["paused", "started"])
        for host in [0, 1] {
            scene.cut(host)
            scene.reopen(host)
            #expect(scene.hosts[host].member.stored == nil)
            scene.exchange(host)
            #expect(scene.hosts[host].live(at: scene.time) == scene.hosts[2].live(at: scene.time))
            #expect(scene.hosts[host].member.stored == scene.engine.position)
            #expect(scene.hosts[host].notes.contains(.takenBack(4)))
            #expect(!scene.hosts[host].notes.contains(.snapshot(.diverged)))
            #expect(scene.hosts[host].canResume(after: revision))
        }
        let kinds = scene.hosts[1].changes.suffix(5).map { "\($0.countdown.key.text) \($0.kind)" }
        #expect(
            Set(kinds) == [
                "new cancelled", "cancelled started", "paused restarted", "changed started", "other started",
            ]
        )
        let calls = scene.call(1, .cancel(key("cancelled")), .start(key: "new"))
        scene.exchange(1)
        #expect(calls.map(scene.word) == ["cancelled", "started"])
    }

    @Test("an end that is not known any more is read again, and a question without an answer is asked again")
    func longTail() {
        var options = Member.Options()
        options.needsAcknowledgements = true
        for count in [1, 20, 200, 300] {
            let scene = Scene(hosts: 1, options: options)
            for number in 0..<300 { scene.call(0, .start(key: "old/\(number)")) }
            scene.exchange(0)
            let backup = scene.engine
            for number in 0..<count { scene.call(0, .start(key: "lost/\(number)")) }
            scene.exchange(0)
            scene.engine = backup
            scene.cut(0)
            scene.reopen(0)
            if count < 255 {
                var lost: [Proposal] = []
                while case let proposals = scene.take(0), !proposals.isEmpty { lost += proposals }
                #expect(lost.count == count)
                scene.answer(0, lost.map { _ in .unreachable("the bridge is gone") }, to: lost)
                #expect(scene.take(0).isEmpty)
                scene.pass(.milliseconds(100))
                scene.turn(0)
            }
            scene.exchange(0)
            #expect(scene.hosts[0].live(at: scene.time).count == 300)
            #expect(scene.hosts[0].notes.contains(.snapshot(.diverged)) == (count > 255))
            #expect(scene.hosts[0].member.stored == scene.engine.position)
        }
    }

    @Test("too many calls are refused, and a call whose client is gone is not made")
    func limits() {
        var options = Member.Options()
        options.calls = 2
        let scene = Scene(hosts: 1, options: options)
        scene.call(0, .start())
        _ = scene.take(0)
        let calls = scene.call(0, .pause(k), .cancel(k))
        #expect(calls.map(scene.word) == [nil, "notMade"])
        scene.turn(0) { $0.member.withdraw(calls[0], of: k) }
        #expect(scene.hosts[0].member.calls == 1)
        scene.pass(.seconds(3))
        scene.turn(0)
        #expect(scene.hosts[0].member.calls == 0)
        #expect(scene.word(calls[0]) == nil)
        options.callBytes = 600
        let narrow = Scene(hosts: 1, options: options)
        #expect(narrow.call(0, .start(label: String(repeating: "x", count: 99))).map(narrow.word) == ["notMade"])
    }
}
