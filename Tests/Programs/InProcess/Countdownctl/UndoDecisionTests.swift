import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownctl

@Suite("What the service does about the file of a change")
struct UndoDecisionTests {
    private static let id = "00001772355600000000-0123456789abcdef"
    private let now: Int64 = 1_772_355_600_000_000

    private func record(_ stage: UndoRecord.Stage = .changed, deadline: Int64, boot: String = "b1") -> UndoRecord {
        UndoRecord(
            stage: stage,
            name: "dnd",
            words: ["true"],
            directory: "/",
            path: "/bin",
            machine: "m",
            boot: boot,
            deadlineUSec: deadline,
            durationUSec: 60_000_000,
            timeoutUSec: 1
        )
    }

    private func countdown(
        _ state: Countdown.State,
        id: String = Self.id,
        deadline: Int64? = nil,
        duration: Int64 = 60_000_000
    ) -> Countdown {
        var countdown = ProgramTests.countdown("undo/dnd", 30, state)
        (countdown.durationUSec, countdown.deadlineUSec, countdown.metadata) = (duration, deadline, ["undo": id])
        return countdown
    }

    private func decide(_ record: UndoRecord, _ countdown: Countdown?, boot: String = "b1") -> UndoDecision {
        UndoDecision(record, Self.id, countdown, now: now, boot: boot)
    }

    @Test("a kept change is not undone, whatever its countdown does")
    func keeps() {
        for countdown in [nil, countdown(.running), countdown(.finished), countdown(.cancelled)] {
            #expect(decide(record(.kept, deadline: now - 1), countdown) == .remove)
        }
    }

    @Test("if its countdown has ended, the change is undone, also if it was cancelled or the command had not been run")
    func undoes() {
        for stage in [UndoRecord.Stage.prepared, .changed] {
            #expect(decide(record(stage, deadline: now + 1), countdown(.finished)) == .undo)
            #expect(decide(record(stage, deadline: now + 1), countdown(.cancelled)) == .undo)
        }
    }

    @Test("while its countdown runs or is paused, nothing is done, also after the deadline in the file")
    func waits() {
        #expect(decide(record(deadline: now - 1), countdown(.running, deadline: now - 1)) == .wait(until: nil))
        #expect(decide(record(deadline: now - 1), countdown(.paused)) == .wait(until: nil))
    }

    @Test("if a client has moved the end, the file notes it")
    func notes() {
        #expect(decide(record(deadline: now), countdown(.running, deadline: now + 1)) == .note)
        var record = record(deadline: now, boot: "b0")
        record.note(countdown(.running, deadline: now + 1, duration: 61_000_000), now: now, boot: "b1")
        #expect(record.deadlineUSec == now + 1 && record.durationUSec == 61_000_000 && record.boot == "b1")
        record.note(countdown(.paused), now: now, boot: "b1")
        #expect(record.deadlineUSec == now + 30_000_000)
    }

    @Test("if the countdown is unknown or another one, it is started again until the deadline, and undone after it")
    func startsAgain() {
        for other in [nil, countdown(.running, id: "other", deadline: now + 9), countdown(.finished, id: "other")] {
            #expect(decide(record(deadline: now + 1), other) == .start)
            #expect(decide(record(deadline: now), other) == .undo)
        }
    }

    @Test("on a later boot the deadline in the file comes first, because the clock may have begun in the past")
    func trustsItsDeadline() {
        let late = countdown(.running, deadline: now + 3_600_000_000)
        #expect(decide(record(deadline: now + 1), late, boot: "b2") == .wait(until: now + 1))
        #expect(decide(record(deadline: now), late, boot: "b2") == .undo)
        // A client has added time, or paused it: on this boot, so its clock is known.
        let added = countdown(.running, deadline: now + 3_600_000_000, duration: 3_660_000_000)
        #expect(decide(record(deadline: now), added, boot: "b2") == .note)
        #expect(decide(record(deadline: now), countdown(.paused), boot: "b2") == .note)
    }

    @Test("a file has every word, and a file of another version is not read")
    func reads() throws {
        var record = record(deadline: now)
        record.label = "Do not disturb"
        record.metadata = ["wake": "yes"]
        record.failure = "exit code 1"
        let text = JSONText.object(record)
        #expect(try UndoRecord(json: text) == record)
        let other = String(decoding: text, as: UTF8.self).replacing("\"version\":1", with: "\"version\":2")
        #expect(throws: InvalidParameter("version")) { try UndoRecord(json: other.utf8) }
    }
}
