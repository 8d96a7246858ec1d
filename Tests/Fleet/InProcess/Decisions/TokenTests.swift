import Testing

@testable import CountdownCore
@testable import Fleet

/// Rates whose tokens come faster than the margin of 50 ms.
@Suite("Rates in a fleet")
struct TokenTests {
    let scene = Scene()
    private let k = key("k")

    private func rate(_ token: Duration, burst: Int64) -> Request {
        let most = Duration(microseconds: token.microseconds * burst)
        return .start(Request.Start(k, .after(token), ifLive: .extend, upTo: most))
    }

    @discardableResult
    private func call(_ host: Int, _ count: Int, _ request: Request) -> [Int] {
        (0..<count).map { _ in scene.call(host, request)[0] }
    }

    private func accepted(_ calls: [Int]) -> Int {
        calls.count { ["started", "adjusted"].contains(scene.word($0)) }
    }

    private func refused(_ calls: [Int]) -> Int { calls.count { scene.word($0) == "refused" } }

    private func kinds(_ host: Int) -> [Change.Kind] { scene.hosts[host].changes.map(\.kind) }

    @Test("a burst of tokens is made at once, whatever their length", arguments: [1, 3, 20, 50] as [Int64])
    func burst(milliseconds: Int64) {
        let rate = rate(.milliseconds(milliseconds), burst: 20)
        var calls: [Int] = []
        scene.turn(0) { host in
            for number in 1_000..<1_025 {
                host.member.call(number, rate, at: scene.time)
                calls.append(number)
            }
        }
        #expect(scene.exchange(0) == 1)
        #expect(accepted(calls) == 20)
        #expect(refused(calls) == 5)
        scene.deliverAll()
        #expect(scene.hosts[1].live(at: scene.time) == scene.hosts[0].live(at: scene.time))
        let left = scene.hosts[0].countdown(under: k)?.remaining(at: scene.time)
        #expect(left == .milliseconds(20 * milliseconds))
    }

    @Test("a chain that comes to the engine after the deadline of its first change is made as a whole, and ends once")
    func lateChain() {
        let rate = rate(.milliseconds(20), burst: 10)
        var calls = [Int](1_000..<1_012)
        scene.turn(0) { host in for number in calls { host.member.call(number, rate, at: scene.time) } }
        let proposals = scene.take(0)
        scene.pass(.milliseconds(150))
        let answers = scene.engine.propose(proposals, at: scene.now)
        #expect(answers.allSatisfy { $0.version != nil })
        scene.answer(0, answers, to: proposals)
        scene.deliver(1)
        #expect(accepted(calls) == 10)
        #expect(refused(calls) == 2)
        for host in [0, 1] { #expect(kinds(host) == [.started] + Array(repeating: .adjusted, count: 9)) }
        calls = scene.call(1, rate)
        scene.exchange(1)
        #expect(accepted(calls) == 1)
        scene.deliverAll()
        scene.pass(.milliseconds(70))
        for host in [0, 1] {
            scene.turn(host)
            #expect(kinds(host).count { $0 == .started } == 1)
            #expect(kinds(host).suffix(2) == [.adjusted, .finished])
            #expect(!scene.hosts[host].notes.contains(.postponedTooLate(k)))
        }
    }

    @Test("a chain that comes after its last deadline has ended: it starts once and ends once")
    func endedChain() {
        let calls = [Int](1_000..<1_003)
        let rate = rate(.milliseconds(20), burst: 10)
        scene.turn(0) { host in for number in calls { host.member.call(number, rate, at: scene.time) } }
        let proposals = scene.take(0)
        scene.pass(.milliseconds(200))
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        scene.deliver(1)
        #expect(accepted(calls) == 3)
        for host in [0, 1] {
            #expect(kinds(host) == [.started, .adjusted, .adjusted, .finished])
            #expect(scene.hosts[host].notes.allSatisfy { $0 != .postponedTooLate(k) })
        }
    }

    @Test("changes that another host reads late are announced with one end, also if a later run follows")
    func readLate() {
        scene.cut(1)
        let calls = [Int](1_000..<1_003)
        let rate = rate(.milliseconds(20), burst: 10)
        scene.turn(0) { host in for number in calls { host.member.call(number, rate, at: scene.time) } }
        scene.exchange(0)
        scene.pass(.milliseconds(100))
        scene.turn(0)
        scene.call(0, .start(10))
        scene.exchange(0)
        scene.reopen(1)
        #expect(kinds(1) == [.started, .adjusted, .adjusted, .finished, .started])
    }

    @Test("tokens that come within the margin wait for the deadline, the others are refused after one confirmation")
    func waiting() {
        let rate = rate(.milliseconds(50), burst: 20)
        let first = call(0, 1, rate)
        scene.exchange(0)
        let real = scene.hosts[0].countdown(under: k)
        scene.pass(.milliseconds(1))
        let calls = [Int](1_000..<1_100)
        scene.turn(0) { host in for number in calls { host.member.call(number, rate, at: scene.time) } }
        let proposals = scene.take(0)
        #expect(proposals.count == 1)
        #expect(proposals.first?.record == nil)
        #expect(refused(calls) == 0)
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        #expect(scene.exchange(0) == 0)
        #expect(calls.map(scene.word) == Array(repeating: nil, count: 19) + Array(repeating: "refused", count: 81))
        guard case .refused(.alreadyRunning(let countdown, let retryAfter)) = scene.result(calls[99]) else {
            Issue.record("the last call is refused because the key is running")
            return
        }
        #expect(countdown == real)
        // 20 tokens are taken until 999 ms from now, and one more fits when 950 are left.
        #expect(retryAfter == .milliseconds(49))
        #expect(scene.hosts[0].member.next(at: scene.time) == noon + .milliseconds(50))
        scene.pass(.milliseconds(49))
        scene.turn(0)
        #expect(scene.exchange(0) == 1)
        #expect(accepted(first + calls) == 20)
        #expect(scene.hosts[0].member.calls == 0)
    }

    @Test("calls that come one by one while others wait are decided at once, too")
    func oneByOne() {
        let rate = rate(.milliseconds(20), burst: 3)
        let calls = call(0, 1, rate)
        scene.exchange(0)
        var later: [Int] = []
        for number in 0..<10 {
            scene.pass(.milliseconds(1))
            later += call(0, 1, rate)
            // The refusal needs a confirmation.
            #expect(scene.exchange(0) == (number < 2 ? 0 : 1))
        }
        #expect(accepted(calls) == 1)
        #expect(later.map(scene.word) == [nil, nil] + Array(repeating: "refused", count: 8))
        scene.hosts[0].member.withdraw(later[0], of: k)
        scene.turn(0)
        let next = call(0, 2, rate)
        scene.exchange(0)
        #expect(next.map(scene.word) == [nil, "refused"])
        scene.pass(.milliseconds(10))
        scene.turn(0)
        scene.exchange(0)
        #expect(accepted([later[1], next[0]]) == 2)
    }

    @Test("a call that has waited and lost waits for a margin in all, and is refused then")
    func lostTurn() {
        let rate = rate(.milliseconds(20), burst: 10)
        call(0, 1, rate)
        scene.exchange(0)
        scene.deliver(1)
        scene.pass(.milliseconds(1))
        let call = call(1, 1, rate)[0]
        var waited = 1
        // Another host is faster at each deadline.
        while scene.word(call) == nil, waited < 200 {
            let instant = noon + .milliseconds(20 * Int64(waited / 20 + 1))
            scene.pass(instant - scene.now)
            scene.turn(0)
            self.call(0, 1, rate)
            scene.exchange(0)
            scene.turn(1)
            scene.exchange(1)
            scene.deliver(1)
            scene.exchange(1)
            waited += 20
        }
        #expect(scene.word(call) == "refused")
        #expect(scene.now <= noon + .milliseconds(51))
        guard case .refused(.alreadyRunning(_, let retryAfter)) = scene.result(call) else { return }
        #expect(retryAfter.map { $0 > .zero && $0 <= .milliseconds(20) } == true)
    }

    @Test("after a conflict the calls that wait keep their order before those that came later")
    func order() {
        let rate = rate(.milliseconds(20), burst: 2)
        call(0, 1, rate)
        scene.exchange(0)
        scene.pass(.milliseconds(1))
        let early = call(0, 1, rate)[0]
        let late = call(0, 1, rate)[0]
        let proposals = scene.take(0)
        #expect(proposals.count == 1)
        scene.pass(.milliseconds(20))
        // The confirmation comes after the deadline.
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        scene.pass(.milliseconds(1))
        scene.turn(0)
        let next = scene.take(0)
        #expect(next.count == 2)
        scene.answer(0, scene.engine.propose(Array(next.prefix(1)), at: scene.now) + [.late], to: next)
        #expect(scene.word(early) == "started")
        #expect(scene.word(late) == nil)
    }

    @Test("a call that runs out of time while it waits says that the countdown ends within the margin")
    func reason() {
        var options = Member.Options()
        options.margin = .seconds(3)
        let scene = Scene(hosts: 1, options: options)
        scene.call(0, .start(3))
        scene.exchange(0)
        scene.pass(.milliseconds(1))
        let call = scene.call(0, .cancel(k))[0]
        scene.pass(.seconds(2))
        scene.turn(0)
        guard case .notMade(let reason) = scene.result(call) else {
            Issue.record("the call was not made")
            return
        }
        #expect(reason.contains("the countdown ends within the margin"))
    }

    @Test("of a flood on three hosts nothing goes above the limit, and no call waits for longer than a margin")
    func flood() {
        let scene = Scene(hosts: 3)
        let start = scene.now
        var instants: [WallInstant] = []
        var waits: [Duration] = []
        var open: [(call: Int, at: WallInstant)] = []
        for step in 0..<2_000 {
            scene.pass(.milliseconds(1))
            for host in 0..<3 {
                scene.turn(host)
                if step % 3 == host {
                    open.append((scene.call(host, rate(.milliseconds(20), burst: 10))[0], scene.now))
                }
                scene.exchange(host)
            }
            scene.deliverAll()
            for host in 0..<3 { scene.exchange(host) }
            open.removeAll { call, at in
                guard let word = scene.word(call) else { return false }
                #expect(["started", "adjusted", "refused"].contains(word))
                if word != "refused" { instants.append(scene.now) }
                waits.append(scene.now - at)
                return true
            }
        }
        let longest = waits.max()
        #expect(longest.map { $0 <= .milliseconds(52) } == true)
        #expect(waits.count { $0 > .zero } < 30)
        for (index, instant) in instants.enumerated() {
            let earlier = instants[..<index].count { instant - $0 < .milliseconds(200) }
            #expect(earlier < 20)
        }
        #expect((2_000 / 20...2_000 / 20 + 10).contains(instants.count))
        #expect(start < scene.now)
    }
}
