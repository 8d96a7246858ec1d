import IPC
import TestSupport
import Testing
import Varlink

/// `DecisionTableTests` and those beside them say what a change does; these show that calls arrive with their parameters.
@Suite("Changing a countdown")
final class ChangeCallTests: SmallDaemonSuite {
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
        let deadline = old.startedUSec + .seconds(3_600)
        let moved = try caller.call(Adjust(key: "tea", deadlineUSec: deadline)).countdown
        #expect(moved.deadlineUSec == deadline && moved.clock == .wall)
        let paused = try caller.call(Pause(key: "tea")).countdown
        let more = try caller.call(Adjust(key: "tea", byUSec: .seconds(30))).countdown
        #expect(more.state == .paused)
        #expect(more.remainingUSec == paused.remainingUSec + .seconds(30))
    }
}
