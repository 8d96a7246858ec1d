import Testing

@testable import CountdownCore
@testable import Fleet

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

    @Test("a start whose proposal met a conflict waits before the starts that came after it")
    func place() {
        let scene = Scene()
        let calls = scene.call(0, .start(10, .wait), .start(10, .wait))
        let proposals = scene.take(0)
        scene.call(1, .start(5))
        scene.exchange(1)
        scene.answer(0, scene.engine.propose(proposals, at: scene.now), to: proposals)
        scene.deliverAll()
        scene.exchange(0)
        #expect(calls.map(scene.word) == [nil, nil])
        #expect(scene.hosts[0].member.queuedCalls == 2)
        scene.pass(.seconds(5))
        scene.turn(0)
        scene.exchange(0)
        #expect(calls.map(scene.word) == ["started", nil])
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
        #expect(scene.hosts[0].member.next(at: scene.time) == noon + .seconds(5))
        scene.pass(.seconds(5))
        scene.turn(0)
        scene.exchange(0)
        #expect(scene.word(calls[2]) == "adjusted")
    }
}
