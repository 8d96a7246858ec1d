import IPC
import TestSupport
import Testing
import Varlink

@Suite("Changing a countdown")
struct ChangeCallTests {
    private let daemon: SmallDaemon
    private let caller: Caller

    init() throws {
        daemon = try SmallDaemon()
        caller = try Caller(of: daemon)
    }

    @Test("a restart takes every field from its call and none from before")
    func restart() throws {
        let old = try caller.call(Start(key: "tea", label: "Tea", metadata: ["a": "b"])).countdown
        let reply = try caller.call(Start(key: "tea", durationUSec: .seconds(5), ifRunning: .restart))
        #expect(reply.outcome == .restarted)
        #expect(reply.countdown.durationUSec == .seconds(5))
        #expect(reply.countdown.remainingUSec == .seconds(5))
        #expect(reply.countdown.startedUSec > old.startedUSec)
        #expect(reply.countdown.label == nil)
        #expect(reply.countdown.metadata == nil)
    }

    @Test("a restart of a paused countdown runs")
    func restartPaused() throws {
        _ = try caller.call(Start(key: "tea"))
        _ = try caller.call(Pause(key: "tea"))
        let reply = try caller.call(Start(key: "tea", ifRunning: .restart))
        #expect(reply.outcome == .restarted)
        #expect(reply.countdown.state == .running)
    }

    @Test("an extension adds its duration, 60 s without one, and changes only the fields in the call")
    func extend() throws {
        let old = try caller.call(Start(key: "tea", label: "Tea", metadata: ["a": "b"])).countdown
        let longer = try caller.call(Start(key: "tea", durationUSec: .seconds(5), ifRunning: .extend))
        #expect(longer.outcome == .extended)
        #expect(longer.countdown.durationUSec == .seconds(65))
        #expect(longer.countdown.deadlineUSec == old.deadlineUSec.map { $0 + .seconds(5) })
        #expect(longer.countdown.startedUSec == old.startedUSec)
        #expect(longer.countdown.label == "Tea")
        #expect(longer.countdown.metadata == ["a": "b"])
        let named = try caller.call(Start(key: "tea", ifRunning: .extend, label: "Green", metadata: [:])).countdown
        #expect(named.durationUSec == .seconds(125))
        #expect(named.label == "Green")
        #expect(named.metadata == nil)
    }

    @Test("an extension leaves forget unchanged, whatever the call says", arguments: [false, true])
    func extendForgotten(forget: Bool) throws {
        _ = try caller.call(Start(key: "tea", forget: forget))
        let extended = try caller.call(Start(key: "tea", ifRunning: .extend, forget: !forget))
        #expect(extended.countdown.forget == forget)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns.isEmpty == forget)
    }

    @Test("a paused countdown that is extended stays paused")
    func extendPaused() throws {
        _ = try caller.call(Start(key: "tea"))
        let paused = try caller.call(Pause(key: "tea")).countdown
        let reply = try caller.call(Start(key: "tea", durationUSec: .seconds(5), ifRunning: .extend))
        #expect(reply.countdown.state == .paused)
        #expect(reply.countdown.remainingUSec == paused.remainingUSec + .seconds(5))
    }

    @Test(
        "if no countdown is live under the key, restart and extend start one",
        arguments: [IfRunning.restart, .extend]
    )
    func startsAnyway(_ ifRunning: IfRunning) throws {
        let reply = try caller.call(Start(key: "tea", durationUSec: .seconds(5), ifRunning: ifRunning))
        #expect(reply.outcome == .started)
        #expect(reply.countdown.durationUSec == .seconds(5))
    }

    @Test("a deadline is kept to the microsecond, and makes the countdown follow the system clock")
    func deadline() throws {
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        let deadline = now + .seconds(3_600) + 123
        let countdown = try caller.call(Start(key: "tea", deadlineUSec: deadline)).countdown
        #expect(countdown.clock == .wall)
        #expect(countdown.deadlineUSec == deadline)
        #expect(countdown.durationUSec == deadline - countdown.startedUSec)
    }

    @Test("Pause freezes the remaining time, and Resume continues with it, on the elapsed clock")
    func pauseAndResume() throws {
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        _ = try caller.call(Start(key: "tea", deadlineUSec: now + .seconds(60)))
        let paused = try caller.call(Pause(key: "tea")).countdown
        #expect(paused.state == .paused)
        #expect(paused.deadlineUSec == nil)
        #expect(try caller.call(Get(key: "tea")).countdown == paused)
        let resumed = try caller.call(Resume(key: "tea")).countdown
        #expect(resumed.state == .running)
        #expect(resumed.clock == .elapsed)
        #expect(resumed.remainingUSec == paused.remainingUSec)
        #expect(resumed.durationUSec == paused.durationUSec)
    }

    @Test("Adjust moves the deadline in both directions; while paused, the remaining time")
    func adjust() throws {
        let old = try caller.call(Start(key: "tea")).countdown
        let less = try caller.call(Adjust(key: "tea", byUSec: .seconds(-10))).countdown
        #expect(less.deadlineUSec == old.deadlineUSec.map { $0 - .seconds(10) })
        #expect(less.durationUSec == .seconds(50))
        let paused = try caller.call(Pause(key: "tea")).countdown
        let more = try caller.call(Adjust(key: "tea", byUSec: .seconds(30))).countdown
        #expect(more.state == .paused)
        #expect(more.remainingUSec == paused.remainingUSec + .seconds(30))
    }

    @Test("an adjustment that leaves no time finishes at once, also a paused countdown")
    func adjustToNothing() throws {
        for key in ["running", "paused"] { _ = try caller.call(Start(key: key)) }
        _ = try caller.call(Pause(key: "paused"))
        for key in ["running", "paused"] {
            let ended = try caller.call(Adjust(key: key, byUSec: .seconds(-60))).countdown
            #expect(ended.state == .finished)
            #expect(ended.remainingUSec == 0)
            #expect(ended.durationUSec >= 0)
        }
    }

    @Test("a cancelled countdown has the time that remained, and one that was finished early has 0")
    func endings() throws {
        for key in ["cancelled", "finished"] { _ = try caller.call(Start(key: key)) }
        let cancelled = try caller.call(Cancel(key: "cancelled")).countdown
        #expect((1..<Int64.seconds(60)).contains(cancelled.remainingUSec))
        let finished = try caller.call(Finish(key: "finished")).countdown
        #expect(finished.remainingUSec == 0)
        for ended in [cancelled, finished] {
            let instant = try #require(ended.endedUSec)
            #expect(instant > ended.startedUSec)
            #expect(ended.deadlineUSec == nil)
            #expect(try caller.call(Get(key: ended.key)).countdown == ended)
        }
    }

    @Test("a countdown with forget is unknown after its end, however it ends")
    func forgotten() throws {
        for key in ["clock", "cancel", "finish", "adjust"] {
            let length = key == "clock" ? Int64.milliseconds(1) : .seconds(60)
            _ = try caller.call(Start(key: key, durationUSec: length, forget: true))
        }
        #expect(throws: CountdownError.self) {
            _ = try caller.call(Wait(key: "clock"))
            _ = try caller.call(Wait(key: "clock"))
        }
        #expect(try caller.call(Cancel(key: "cancel")).countdown.state == .cancelled)
        #expect(try caller.call(Finish(key: "finish")).countdown.state == .finished)
        #expect(try caller.call(Adjust(key: "adjust", byUSec: .seconds(-60))).countdown.state == .finished)
        for key in ["clock", "cancel", "finish", "adjust"] {
            #expect(throws: CountdownError.noSuchCountdown(key: key)) { try caller.call(Get(key: key)) }
        }
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns.isEmpty)
    }
}
