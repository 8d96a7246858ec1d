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
            program: "/bin/true",
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
        #expect(decide(paused, countdown(.paused)) == .wait(until: nil))
    }

    /// As it is after a note of the pause.
    private var paused: UndoRecord {
        var paused = record(deadline: now - 1)
        paused.pausedUSec = 30_000_000
        return paused
    }

    @Test("a pause, and its end, are noted; a paused change whose countdown is lost is not undone")
    func notesPauses() {
        #expect(decide(record(deadline: now - 1), countdown(.paused)) == .note)
        #expect(decide(paused, countdown(.running, deadline: now - 1)) == .note)
        #expect(decide(paused, countdown(.running, deadline: now + 1), boot: "b2") == .note)
        for other in [nil, countdown(.running, id: "other"), countdown(.finished, id: "other")] {
            #expect(decide(paused, other) == .start)
        }
        var record = paused
        record.note(countdown(.running, deadline: now + 9), now: now, boot: "b1")
        #expect(record.pausedUSec == nil && record.deadlineUSec == now + 9)
        record.note(countdown(.paused), now: now, boot: "b1")
        #expect(record.pausedUSec == 30_000_000)
    }

    @Test("an undo that was begun or asked for is carried out, whatever the countdown does")
    func goesOn() {
        for countdown in [nil, countdown(.running, deadline: now + 9), countdown(.paused), countdown(.finished)] {
            #expect(decide(record(.undoing, deadline: now + 9), countdown) == .undo)
        }
        let undoing = UndoDecision(withoutDaemon: record(.undoing, deadline: now + 9), isFollowed: false, now: now)
        #expect(undoing == .undo)
    }

    @Test("without a daemon the instant in the file counts, if nobody can have moved it or paused the countdown")
    func decidesAlone() {
        func decide(_ record: UndoRecord, isFollowed: Bool = true) -> UndoDecision {
            UndoDecision(withoutDaemon: record, isFollowed: isFollowed, now: now)
        }
        for stage in [UndoRecord.Stage.prepared, .changed] {
            #expect(decide(record(stage, deadline: now)) == .undo)
            #expect(decide(record(stage, deadline: now + 1)) == .wait(until: now + 1))
            #expect(decide(record(stage, deadline: now), isFollowed: false) == .wait(until: nil))
        }
        #expect(decide(paused) == .wait(until: nil))
        #expect(decide(record(.kept, deadline: now)) == .wait(until: nil))
    }

    @Test("the name may be typed as the key, and a change is the same only with the same bytes and directory")
    func compares() {
        let typed = ["dnd", "undo/dnd", "undo/undo/dnd", "undo/\u{301}"]
        #expect(typed.map(UndoRecord.name) == ["dnd", "dnd", "undo/dnd", "\u{301}"])
        func record(_ word: String, in directory: String = "/") -> UndoRecord {
            UndoRecord(
                name: "a",
                words: ["rm", word],
                program: "/bin/rm",
                directory: directory,
                path: "/bin",
                machine: "m",
                boot: "b",
                deadlineUSec: 1,
                timeoutUSec: 1
            )
        }
        #expect(record("\u{E9}").isSameChange(as: record("\u{E9}")))
        #expect(!record("\u{E9}").isSameChange(as: record("e\u{301}")))
        #expect(!record("x").isSameChange(as: record("x", in: "/tmp")))
    }

    @Test("a text is shortened to bytes, and never within a character's scalars", arguments: 3...40)
    func shortens(_ limit: Int) {
        for unit in ["a", "é😀", "\u{301}"] {
            let text = String(repeating: unit, count: 50)
            let short = text.shortened(toBytes: limit)
            #expect(short.utf8.count <= limit && short.utf8.count > limit - 4)
            #expect(short.hasSuffix("…") && !short.contains("\u{FFFD}"))
        }
        #expect("short".shortened(toBytes: 5) == "short")
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
        record.pausedUSec = 5
        let text = JSONText.object(record)
        #expect(try UndoRecord(json: text) == record)
        let other = String(decoding: text, as: UTF8.self).replacing("\"version\":1", with: "\"version\":2")
        let earlier = String(decoding: text, as: UTF8.self).replacing("\"program\":\"/bin/true\",", with: "")
        #expect(try UndoRecord(json: earlier.utf8).program == "true")
        #expect(throws: InvalidParameter("version")) { try UndoRecord(json: other.utf8) }
    }
}
