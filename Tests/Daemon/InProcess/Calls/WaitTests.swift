import IPC
import TestSupport
import Testing
import Varlink

@Suite("Waiting")
struct WaitTests {
    private let daemon: SmallDaemon
    private let caller: Caller
    private let waiter: Caller

    init() throws {
        daemon = try SmallDaemon()
        caller = try Caller(of: daemon)
        waiter = try Caller(of: daemon)
    }

    /// Sends a Wait, and returns when the daemon has received it.
    private func beginWaiting(for key: String) throws {
        try waiter.send(together: GetStatus(), Wait(key: key))
        _ = try waiter.answer(to: GetStatus.self)
    }

    private func ending() throws -> Countdown {
        try waiter.answer(to: Wait.self).value.countdown
    }

    @Test("it is answered when another client cancels or finishes the countdown")
    func endedByHand() throws {
        _ = try caller.call(Start(key: "tea"))
        try beginWaiting(for: "tea")
        let cancelled = try caller.call(Cancel(key: "tea")).countdown
        #expect(try ending() == cancelled)
        _ = try caller.call(Start(key: "tea"))
        try beginWaiting(for: "tea")
        let finished = try caller.call(Finish(key: "tea")).countdown
        #expect(try ending() == finished)
    }

    @Test("after the countdown's end it is answered at once, and without a countdown it is refused")
    func atOnce() throws {
        _ = try caller.call(Start(key: "tea"))
        let ended = try caller.call(Cancel(key: "tea")).countdown
        #expect(try waiter.call(Wait(key: "tea")).countdown == ended)
        #expect(throws: CountdownError.noSuchCountdown(key: "coffee")) { try waiter.call(Wait(key: "coffee")) }
    }

    @Test("pauses, extensions and restarts prolong it")
    func prolonged() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(1)))
        try beginWaiting(for: "tea")
        _ = try caller.call(Pause(key: "tea"))
        daemon.time.pass(.seconds(2))
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(5), ifRunning: .extend))
        _ = try caller.call(Resume(key: "tea"))
        let restarted = try caller.call(Start(key: "tea", durationUSec: .milliseconds(50), ifRunning: .restart))
            .countdown
        daemon.time.pass(.milliseconds(50))
        #expect(try ending().endedUSec == restarted.deadlineUSec)
    }

    @Test("it is also answered when a countdown with forget ends")
    func forgotten() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(200), forget: true))
        try beginWaiting(for: "tea")
        daemon.time.pass(.milliseconds(200))
        #expect(try ending().state == .finished)
        #expect(throws: CountdownError.noSuchCountdown(key: "tea")) { try waiter.call(Wait(key: "tea")) }
    }

    @Test("all calls that wait for one key are answered")
    func many() throws {
        _ = try caller.call(Start(key: "tea"))
        let others = try (0..<5).map { _ in try Caller(of: daemon) }
        for other in others {
            try other.send(together: GetStatus(), Wait(key: "tea"))
            _ = try other.answer(to: GetStatus.self)
        }
        let ended = try caller.call(Finish(key: "tea")).countdown
        for other in others { #expect(try other.answer(to: Wait.self).value.countdown == ended) }
    }

    @Test("calls behind it are executed and answered after it, in order")
    func pipelined() throws {
        for key in ["a", "b", "c"] { _ = try caller.call(Start(key: key)) }
        try beginWaiting(for: "a")
        try waiter.send(Get(key: "a"))
        try waiter.send(Wait(key: "b"))
        try waiter.send(Cancel(key: "c"))
        try waiter.send(Cancel(key: "none"))
        try waiter.send(GetStatus())
        _ = try caller.call(Finish(key: "b"))
        #expect(try caller.call(Get(key: "c")).countdown.state == .running)
        _ = try caller.call(Finish(key: "a"))
        #expect(try ending().key == "a")
        #expect(try waiter.answer(to: Get.self).value.countdown.state == .finished)
        #expect(try ending().key == "b")
        #expect(try waiter.answer(to: Cancel.self).value.countdown.state == .cancelled)
        #expect(throws: CountdownError.noSuchCountdown(key: "none")) { try waiter.answer(to: Cancel.self) }
        #expect(try waiter.answer(to: GetStatus.self).value.running == 0)
    }
}
