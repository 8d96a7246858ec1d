import FakeBackend
import FleetWire
import IPC
import ModelEngine
import TestSupport
import Testing

@Suite("A fleet with an engine that fails", .serialized)
struct EngineOutageTests {
    private let fleet: Fleet
    private let caller: Caller

    init() throws {
        fleet = try Fleet(1)
        caller = try fleet.caller()
        _ = try caller.call(Start(key: "live", durationUSec: .seconds(600)))
    }

    private var backend: FakeBackend { fleet.backend }

    /// Reads are answered, and a start attaches, from the countdowns that are known.
    private func expectService() throws {
        #expect(try caller.call(Start(key: "live")).outcome == .attached)
        #expect(try caller.call(Get(key: "live")).countdown.state == .running)
        #expect(try caller.call(List()).countdowns.map(\.key).contains("live"))
    }

    @Test("if the engine is gone, changes are refused at once, reads and expiries go on, and then the log is resumed")
    func gone() throws {
        let follower = try fleet.followers()[0]
        _ = try caller.call(Start(key: "short", durationUSec: .milliseconds(500)))
        backend.kill()
        try fleet.awaitLost(0)
        #expect(try caller.error(of: Start(key: "new"))?.refusal?.contains("the engine has closed") == true)
        #expect(try caller.error(of: Cancel(key: "live"))?.refusal != nil)
        // Another machine may have it.
        #expect(try caller.error(of: Cancel(key: "new"))?.refusal != nil)
        #expect(try caller.error(of: Pause(key: "new"))?.refusal != nil)
        #expect(try caller.error(of: Finish(key: "new"))?.refusal != nil)
        #expect(try caller.error(of: Adjust(key: "new", byUSec: 1))?.refusal != nil)
        try expectService()
        try follower.events(through: .finished, of: "short")
        backend.restart()
        try fleet.awaitLive(0, times: 2)
        #expect(try caller.call(Start(key: "new")).outcome == .started)
        try follower.events(through: .started, of: "new")
        #expect(backend.calls.follows.count == 1)
    }

    @Test("a bridge that answers nothing is noticed although nobody changes anything")
    func hangsUnnoticed() throws {
        backend.setFaults { $0.answersNothing = true }
        try fleet.awaitLost(0)
        #expect(fleet.daemons[0].standardError.contains("the bridge does not answer"))
        try expectService()
        backend.setFaults { $0.answersNothing = false }
        try fleet.awaitLive(0, times: 2)
        #expect(try caller.call(Start(key: "new")).outcome == .started)
    }

    @Test("if the bridge answers nothing, changes are unknown after 2 s, then refused, and reads go on")
    func hangs() throws {
        backend.setFaults { $0.answersNothing = true }
        let other = try fleet.caller()
        try other.send(Start(key: "new"))
        #expect(try caller.call(Get(key: "live")).countdown.state == .running)
        #expect(throws: CountdownError.self) { try other.answer(to: Start.self) }
        try fleet.awaitLost(0)
        let error = try caller.error(of: Start(key: "newer"))
        #expect(error?.refusal != nil || error?.doubt != nil)
        try expectService()
        backend.setFaults { $0.answersNothing = false }
        #expect(try caller.repeated(Start(key: "newer")).countdown.state == .running)
    }

    @Test("a full engine refuses changes with its words, and starts attach")
    func full() throws {
        backend.setFull(true)
        #expect(try caller.error(of: Start(key: "new"))?.refusal?.contains("the engine is full") == true)
        #expect(try caller.call(GetStatus()).storageFailure?.contains("the engine is full") == true)
        try expectService()
        backend.setFull(false)
        #expect(try caller.call(Start(key: "new")).outcome == .started)
        #expect(try caller.call(GetStatus()).storageFailure == nil)
    }

    @Test("if the engine came back empty, every countdown is cancelled, and watches end with HistoryTrimmed")
    func empty() throws {
        let follower = try fleet.followers()[0]
        backend.loseEverything()
        try fleet.awaitLog(0, "has another history")
        do {
            while true { _ = try follower.next() }
        } catch CountdownError.historyTrimmed {}
        try waitUntil("the end of the countdown") { try caller.call(Get(key: "live")).countdown.state == .cancelled }
        #expect(try caller.repeated(Start(key: "live")).outcome == .started)
    }

    @Test("with --backend-down=refuse, nothing but a watch is answered while the engine is lost")
    func refuse() throws {
        let fleet = try Fleet(1, arguments: ["--backend-down", "refuse"])
        let caller = try fleet.caller()
        _ = try caller.call(Start(key: "live", durationUSec: .seconds(600)))
        fleet.backend.kill()
        try fleet.awaitLost(0)
        #expect(try caller.error(of: Start(key: "live")) != nil)
        #expect(try caller.error(of: Get(key: "live"))?.doubt != nil)
        #expect(throws: CountdownError.self) { try caller.call(List()) }
        fleet.backend.restart()
        #expect(try caller.repeated(Get(key: "live")).countdown.state == .running)
    }

    @Test("while an engine is far, more than eight calls are on their way to it")
    func far() throws {
        backend.setFaults { $0.replyDelay = .milliseconds(20) }
        _ = try caller.call(Start(key: "far", durationUSec: .seconds(60)))
        let changes = backend.calls.changes
        backend.freeze()
        let callers = try (1...12).map { _ in try fleet.caller() }
        for (index, caller) in callers.enumerated() {
            try caller.send(Start(key: "far \(index)", durationUSec: .seconds(60)))
            try backend.awaitCalls("call \(index)") { $0.changes == changes + index + 1 }
        }
        backend.thaw()
        for caller in callers { #expect(try caller.answer(to: Start.self).value.outcome == .started) }
    }
}
