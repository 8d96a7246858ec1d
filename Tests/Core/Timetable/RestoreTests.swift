import Testing

@testable import CountdownCore

@Suite("Restoring")
struct RestoreTests {
    var scene = RunningTimetable()

    private func countdown(
        _ name: String,
        _ phase: Phase,
        revision: Int64,
        forget: Bool = false
    ) -> KeyedCountdown {
        KeyedCountdown(
            key: key(name),
            phase: phase,
            clock: .elapsed,
            duration: .seconds(60),
            started: scene.now.wall - .seconds(5),
            label: "tea",
            metadata: ["a": "b"],
            forget: forget,
            revision: Revision(revision)
        )
    }

    private func running(_ name: String, revision: Int64) -> KeyedCountdown {
        countdown(name, .running(until: .elapsed(scene.now.boot + .seconds(55))), revision: revision)
    }

    @Test("brings back every countdown, and continues after the last revision")
    mutating func whole() throws {
        let stored = [
            countdown("ended", .finished(at: scene.now.wall - .seconds(9), late: .zero), revision: 3),
            countdown("cancelled", .cancelled(at: scene.now.wall - .seconds(8), remaining: .seconds(4)), revision: 4),
            running("elapsed", revision: 9),
            countdown("wall", .running(until: .wall(scene.now.wall + .seconds(54))), revision: 10),
            countdown("paused", .paused(remaining: .seconds(7)), revision: 12),
        ]
        for countdown in stored { scene.timetable.restore(countdown) }
        #expect(scene.timetable.flush().isEmpty)
        scene.timetable.resume(at: Revision(20), oldest: Revision(2), gaps: [], now: scene.now)
        #expect(scene.timetable.known == stored)
        #expect(scene.timetable.liveCount == 3)
        #expect(scene.timetable.pausedCount == 1)
        #expect(scene.timetable.endedCount == 2)
        #expect(scene.timetable.oldestRevision == Revision(2))
        try scene.start("new")
        #expect(scene["new"]?.revision == Revision(21))
        scene.pass(.seconds(59))
        #expect(scene.endDue().map(\.countdown.key.text) == ["wall", "elapsed"])
    }

    @Test("of a later state replaces the earlier one, and returns its revision")
    mutating func later() {
        #expect(scene.timetable.restoreAlone(running("k", revision: 3)) == nil)
        #expect(
            scene.timetable.restoreAlone(countdown("k", .paused(remaining: .seconds(7)), revision: 5)) == Revision(3)
        )
        let cancelled = countdown("k", .cancelled(at: scene.now.wall, remaining: .seconds(7)), revision: 6)
        #expect(scene.timetable.restoreAlone(cancelled) == Revision(5))
        #expect(scene.timetable.restoreAlone(running("k", revision: 8)) == nil)
        #expect(scene.timetable.liveCount == 1)
        #expect(scene.timetable.pausedCount == 0)
        #expect(scene.timetable.endedCount == 1)
        #expect(scene.timetable.known.map(\.revision.number) == [6, 8])
    }

    @Test("of many at once finds the newest state of each key, and returns the revisions of the others in order")
    mutating func many() {
        // So many that they are sorted.
        let (keys, times) = (3_000, 5)
        for number in 0..<keys * times {
            scene.timetable.restore(running("\(number % keys)", revision: Int64(number) + 1))
        }
        let replaced = scene.timetable.flush().map(\.number)
        #expect(Set(replaced) == Set(1...Int64(keys * (times - 1))))
        let ofKeys = Dictionary(grouping: replaced) { ($0 - 1) % Int64(keys) }
        #expect(ofKeys.values.allSatisfy { $0 == $0.sorted() })
        let newest = (0..<keys).map { scene["\($0)"]?.revision.number }
        #expect(newest == (0..<keys).map { Int64(keys * (times - 1) + $0 + 1) })
        #expect(scene.timetable.liveCount == keys)
    }

    @Test("needs a flush after a number of countdowns that grows with the timetable")
    mutating func needsFlush() {
        var number = 0
        var parts: [Int] = []
        for _ in 0..<5 {
            let before = number
            while !scene.timetable.needsFlush(after: 64...256) {
                number += 1
                scene.timetable.restore(running("\(number)", revision: Int64(number)))
            }
            parts.append(number - before)
            #expect(scene.timetable.flush().isEmpty)
            let needsFlush = scene.timetable.needsFlush(after: 64...256)
            #expect(!needsFlush)
        }
        #expect(parts == [64, 64, 128, 256, 256])
    }

    @Test("of a forgotten end leaves nothing of the countdown")
    mutating func dropped() {
        scene.timetable.restore(running("k", revision: 2))
        scene.timetable.restore(running("k", revision: 3))
        #expect(scene.timetable.dropRestored(key("k")) == Revision(3))
        #expect(scene.timetable.dropRestored(key("k")) == nil)
        #expect(scene.timetable.flush() == [Revision(2)])
        #expect(scene.timetable.known.isEmpty)
        #expect(scene.timetable.nextDeadline(at: scene.now) == nil)
    }

    @Test("keeps no forgotten end, even if a file has one")
    mutating func forgotten() throws {
        _ = scene.timetable.restoreAlone(running("k", revision: 3))
        let ended = countdown("k", .cancelled(at: scene.now.wall, remaining: .zero), revision: 5, forget: true)
        #expect(scene.timetable.restoreAlone(ended) == Revision(3))
        #expect(scene["k"] == nil)
        scene.compact()
        try scene.start("other")
        #expect(scene["k"] == nil)
        #expect(scene.timetable.known.map(\.key.text) == ["other"])
        #expect(scene["other"]?.revision == Revision(6))
    }

    @Test("a kept end is found again after a restart, as before it", arguments: [false, true])
    mutating func keptEndUnderForgotten(endsBefore: Bool) throws {
        let kept = countdown("k", .finished(at: scene.now.wall, late: .zero), revision: 3)
        scene.timetable.restore(kept)
        scene.timetable.restore(countdown("k", .paused(remaining: .seconds(7)), revision: 4, forget: true))
        scene.timetable.restore(countdown("k", .paused(remaining: .seconds(8)), revision: 5, forget: true))
        if endsBefore {
            scene.timetable.restore(
                countdown("k", .cancelled(at: scene.now.wall, remaining: .zero), revision: 6, forget: true)
            )
        }
        #expect(scene.timetable.flush() == [4, 5].prefix(endsBefore ? 2 : 1).map { Revision($0) })
        if !endsBefore { try scene.ask(.cancel(key("k"))) }
        #expect(scene["k"] == kept)
    }

    @Test("takes any values of a file without a trap", arguments: [Int64.min, -1, 0, 1, .max])
    mutating func absurd(number: Int64) throws {
        let span = Duration.microseconds(number)
        let phases: [Phase] = [
            .running(until: .elapsed(BootInstant(microseconds: number))),
            .running(until: .wall(WallInstant(microseconds: number))),
            .paused(remaining: span),
            .finished(at: WallInstant(microseconds: number), late: span),
            .cancelled(at: WallInstant(microseconds: number), remaining: span),
        ]
        for (index, phase) in phases.enumerated() {
            _ = scene.timetable.restoreAlone(
                KeyedCountdown(
                    key: key("\(index)"),
                    phase: phase,
                    clock: .wall,
                    duration: span,
                    started: WallInstant(microseconds: number),
                    revision: Revision(Int64(index) + 1)
                )
            )
        }
        for index in phases.indices {
            _ = scene[String(index)]?.duration(at: scene.now)
            _ = try? scene.ask(.adjust(key("\(index)"), .by(.seconds(5))))
            _ = try? scene.ask(.pause(key("\(index)")))
            _ = try? scene.ask(.adjust(key("\(index)"), .by(-.seconds(5))))
            _ = try? scene.ask(.resume(key("\(index)")))
        }
        scene.endDue()
        scene.compact()
        scene.pass(.years(200))
        scene.endDue()
        scene.compact()
        _ = Observation(of: scene.timetable, at: scene.now)
    }
}

extension Timetable {
    /// Restores a countdown and flushes it.
    /// - Returns: the revision of the live countdown that it replaces; nil if there is none.
    fileprivate mutating func restoreAlone(_ countdown: KeyedCountdown) -> Revision? {
        restore(countdown)
        return flush().last
    }
}
