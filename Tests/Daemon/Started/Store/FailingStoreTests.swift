import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A store that cannot be written")
final class FailingStoreTests: DaemonSuite {
    private func expectRefused(_ call: () throws -> some Any, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: CountdownError.self, sourceLocation: location) { _ = try call() }
        #expect(error?.name == .storageFailed, sourceLocation: location)
    }

    @Test("changes are refused, and the calls around them are answered as if there had been no change")
    func refuses() throws {
        _ = try caller.call(Start(key: "known"))
        try daemon.process.setWritesFail(true)
        // So that all calls arrive in one turn.
        try daemon.process.stop()
        try caller.send(Get(key: "known"))
        try caller.send(Start(key: "new"))
        try caller.send(Get(key: "new"))
        try caller.send(Wait(key: "new"))
        try caller.send(StartAll(cooldowns: [Cooldown("new"), Cooldown("other")]))
        try caller.send(Start(key: "known"))
        try caller.connection.send(message: #"{"method":"org.varlink.service.GetInfo"}"#)
        daemon.process.send(signal: SIGCONT)
        #expect(try caller.answer(to: Get.self).value.countdown.key == "known")
        expectRefused { try caller.answer(to: Start.self) }
        #expect(throws: CountdownError.noSuchCountdown(key: "new")) { try caller.answer(to: Get.self) }
        #expect(throws: CountdownError.noSuchCountdown(key: "new")) { try caller.answer(to: Wait.self) }
        expectRefused { try caller.answer(to: StartAll.self) }
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        #expect(try caller.connection.message().contains("io.countdownd"))
        try daemon.process.setWritesFail(false)
        #expect(try Caller(of: daemon).call(Start(key: "new")).outcome == .started)
    }

    @Test("a watch continues if its client sends another call meanwhile")
    func keepsWatch() throws {
        let follower = try daemon.watch()
        let waiter = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea"))
        try waiter.send(Wait(key: "tea"))
        // Once this is answered, the calls before it have arrived.
        _ = try caller.call(GetStatus())
        try daemon.process.setWritesFail(true)
        // So that all calls arrive in one turn.
        try daemon.process.stop()
        try follower.caller.send(GetStatus())
        try waiter.send(GetStatus())
        try caller.send(Start(key: "coffee"))
        daemon.process.send(signal: SIGCONT)
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        try daemon.process.setWritesFail(false)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try follower.events(through: .finished).map(\.key) == ["tea", "tea"])
        #expect(try waiter.answer(to: Wait.self).value.countdown.state == .finished)
        #expect(try waiter.answer(to: GetStatus.self).value.running == 0)
    }

    @Test("a Wait that only an undone end would answer waits on, and the calls behind it wait too")
    func keepsWaiting() throws {
        _ = try caller.call(Start(key: "tea"))
        let waiter = try Caller(of: daemon)
        try daemon.process.setWritesFail(true)
        // So that all calls arrive in one turn.
        try daemon.process.stop()
        try waiter.send(Finish(key: "tea"))
        try waiter.send(Wait(key: "tea"))
        try waiter.send(Get(key: "tea"))
        daemon.process.send(signal: SIGCONT)
        expectRefused { try waiter.answer(to: Finish.self) }
        #expect(try caller.call(Get(key: "tea")).countdown.state == .running)
        try daemon.process.setWritesFail(false)
        waitForStore()
        let ended = try caller.call(Cancel(key: "tea")).countdown
        #expect(try waiter.answer(to: Wait.self).value.countdown == ended)
        #expect(try waiter.answer(to: Get.self).value.countdown == ended)
    }

    @Test("no call is answered out of turn: reads, invalid calls, and those without a reply among changes")
    func keepsOrder() throws {
        _ = try caller.call(Start(key: "known"))
        try daemon.process.setWritesFail(true)
        try daemon.process.stop()
        try caller.send(Start(key: "new"))
        try caller.connection.send(message: #"{"method":"io.countdownd.Start","parameters":{"key":"b"},"oneway":true}"#)
        try caller.connection.send(message: #"{"method":"io.countdownd.Get","parameters":{"kex":"a"}}"#)
        try caller.send(StartAll(cooldowns: [Cooldown("new", for: .seconds(1))], dryRun: true))
        try caller.connection.send(message: #"{"method":"io.countdownd.Get","parameters":{"key":"b"},"oneway":true}"#)
        try caller.send(GetStatus())
        try caller.send(List(keys: ["known", "new"]))
        try caller.send(Get(key: "known"))
        daemon.process.send(signal: SIGCONT)
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        #expect(try caller.connection.message().contains(#""parameter":"kex""#))
        let room = try #require(try caller.answer(to: StartAll.self).value.rooms.first)
        #expect(room.left == 1)
        #expect(try caller.answer(to: GetStatus.self).value.running == 1)
        #expect(try caller.answer(to: List.self).value.countdowns.map(\.key) == ["known"])
        #expect(try caller.answer(to: Get.self).value.countdown.key == "known")
        try daemon.process.setWritesFail(false)
    }

    // MARK: Queued starts

    @Test("refuses the queued starts of a key whose countdown expires, and the end stands")
    func refusesQueue() throws {
        _ = try caller.call(Start(key: "tea"))
        let clients = try (0..<3).map { _ in try queue(Start(key: "tea", ifRunning: .wait)) }
        let other = try caller.call(Start(key: "egg")).countdown
        let patient = try queue(Start(key: "egg", ifRunning: .wait))
        let remaining = try caller.call(Get(key: "tea")).countdown.remainingUSec
        let adjusted = try caller.call(Adjust(key: "tea", byUSec: .seconds(1) - remaining)).countdown
        try daemon.process.setWritesFail(true)
        for client in clients { expectRefused { try client.answer(to: Start.self) } }
        let ended = try caller.call(Get(key: "tea")).countdown
        #expect(ended.state == .finished)
        #expect(ended.endedUSec == adjusted.deadlineUSec)
        // What a call would have served goes on waiting, as the call is rolled back.
        expectRefused { try caller.call(Finish(key: "egg")) }
        #expect(try caller.call(Get(key: "egg")).countdown.revision == other.revision)
        #expect(try queued() == 1)
        try daemon.process.setWritesFail(false)
        waitForStore()
        _ = try caller.call(Finish(key: "egg"))
        #expect(try patient.answer(to: Start.self).value.outcome == .started)
    }

    @Test("refuses the queued starts of a key that has room for the first one")
    func refusesExtension() throws {
        let started = try caller.call(Start(key: "tea", durationUSec: .seconds(60))).countdown
        try daemon.process.setWritesFail(true)
        let room: Int64 = .seconds(120) - .milliseconds(200)
        let client = try queue(Start(key: "tea", ifRunning: .wait, upToUSec: room))
        expectRefused { try client.answer(to: Start.self) }
        #expect(try caller.call(Get(key: "tea")).countdown.revision == started.revision)
        try daemon.process.setWritesFail(false)
    }

    /// Returns once a change is stored again.
    private func waitForStore() {
        #expect(throws: Never.self) {
            try waitUntil("the store takes a change") {
                (try? caller.call(Start(key: "probe", ifRunning: .restart))) != nil
            }
        }
    }
}
