import Testing

@testable import CountdownCore
@testable import Fleet

@Suite("Calls of a member")
struct MemberTests {
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

    @Test("a conflict confirms only the calls that met it, and no later one")
    func laterCall() {
        let first = scene.call(1, .start(label: "a"))[0]
        let proposals = scene.take(1)
        scene.call(0, .start())
        scene.exchange(0)
        let started = scene.engine.log
        let answers = scene.engine.propose(proposals, at: scene.now)
        let cancel = scene.call(0, .cancel(k))[0]
        scene.exchange(0)
        #expect(scene.word(cancel) == "cancelled")
        scene.answer(1, answers, to: proposals)
        let later = scene.call(1, .start(label: "b"))[0]
        // The channel is slow: the cancellation is still on its way.
        scene.turn(1) { $0.receive(.changes(started), at: scene.time) }
        #expect(scene.word(first) == "attached")
        #expect(scene.word(later) == nil)
        scene.exchange(1)
        scene.deliver(1)
        scene.exchange(1)
        #expect(scene.word(later) == "started")
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
        #expect(scene.hosts[1].member.next(at: scene.time) == noon + .seconds(10))
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

    @Test("a change that was decided before the engine's clock went back is decided again by the new clock")
    func clockBack() {
        let call = scene.call(0, .start(3))[0]
        let proposals = scene.take(0)
        let hour = Duration.seconds(3_600)
        let answers = scene.engine.propose(proposals, at: scene.now - hour)
        #expect(answers == [.early])
        scene.answer(0, answers, to: proposals)
        let host = scene.hosts[0]
        let now = Now(boot: scene.time.boot, offset: .zero - hour)
        host.turn(at: now)
        let next = scene.take(0)
        let made = scene.engine.propose(next, at: now.wall)
        host.turn(at: now) { $0.receive(made, to: next, at: now) }
        #expect(scene.word(call) == "started")
        #expect(host.countdown(under: k)?.remaining(at: now) == .seconds(3))
    }

    @Test("when a record that cannot be used is gone, the countdown before it has ended, and a start begins anew")
    func unusableRecordGone() {
        scene.call(0, .start(label: "before"))
        scene.exchange(0)
        let version = scene.engine.version.next
        let entry = LogEntry(
            key: k,
            version: version,
            id: ProposalID(host: HostID(9, 9), number: 1),
            record: Array(#"{"format":2}"#.utf8)
        )
        scene.turn(0) { $0.receive(.changes([entry]), at: scene.time) }
        let call = scene.call(0, .start())[0]
        let proposals = scene.take(0)
        scene.answer(0, [.conflict(nil)], to: proposals)
        let confirmed = scene.take(0)
        #expect(confirmed.allSatisfy { $0.expected == nil && $0.record != nil })
        scene.answer(0, [.won(version.next)], to: confirmed)
        #expect(scene.word(call) == "started")
        #expect(scene.hosts[0].changes.map(\.kind) == [.started, .cancelled, .started])
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
                guard let next = scene.hosts[0].member.next(at: scene.time) else { break }
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
        #expect(scene.hosts[0].member.calls == 0)
    }
}
