import CountdownCore
import Testing

@Suite("History")
struct HistoryTests {
    var scene: RunningTimetable

    init() {
        var limits = Limits()
        limits.history = 10
        scene = RunningTimetable(limits: limits)
    }

    /// Starts and ends one, at this instant.
    private mutating func end(_ name: String, forget: Bool = false) throws {
        try scene.start(name, nil, forget: forget)
        try scene.ask(.finish(key(name)))
    }

    @Test("keeps the newest ends, up to the limit")
    mutating func number() throws {
        for index in 0..<15 { try end("\(index)") }
        #expect(scene.timetable.endedCount == 15)
        #expect(scene.compact() == [2, 4, 6, 8, 10].map { Revision($0) })
        #expect(scene.timetable.endedCount == 10)
        #expect(scene.timetable.oldestRevision == Revision(10))
        #expect(scene["4"] == nil)
        #expect(scene["5"] != nil)
        #expect(scene.compact().isEmpty)
        #expect(scene.timetable.oldestRevision == Revision(10))
    }

    @Test("keeps ends for 7 days")
    mutating func age() throws {
        try end("old")
        scene.pass(.days(1))
        try end("new")
        scene.pass(.days(6))
        #expect(scene.compact().isEmpty)
        scene.pass(.microseconds(1))
        #expect(scene.compact() == [Revision(2)])
        #expect(scene["old"] == nil)
        scene.pass(.days(1))
        #expect(scene.compact() == [Revision(4)])
        #expect(scene.timetable.endedCount == 0)
    }

    @Test("keeps an end that was noticed late for 7 days from then on")
    mutating func lateEndings() throws {
        try scene.start("k")
        scene.pass(.days(30))
        scene.endDue()
        #expect(scene.compact().isEmpty)
        scene.pass(.days(7))
        #expect(scene.compact().isEmpty)
        scene.pass(.microseconds(1))
        #expect(scene.compact() == [Revision(2)])
    }

    /// Sets the system clock, which the timetable notices.
    private func setClock(by step: Duration) {
        scene.clocks.setWall(by: step)
        scene.timetable.clockWasSet(by: step, at: scene.now)
    }

    @Test("keeps ends for 7 days of the boot clock, whatever the system clock was set to meanwhile")
    mutating func setClock() throws {
        setClock(by: .zero - .years(56))
        try end("in 1970")
        scene.pass(.milliseconds(200))
        setClock(by: .years(56))
        try end("today")
        #expect(scene.compact().isEmpty)
        scene.pass(.days(1))
        setClock(by: .days(8))
        #expect(scene.compact().isEmpty)
        setClock(by: .zero - .days(8))
        try end("tomorrow")
        setClock(by: .zero - .days(3))
        scene.pass(.days(6) - .milliseconds(200))
        #expect(scene.compact().isEmpty)
        scene.pass(.microseconds(1))
        #expect(scene.compact() == [Revision(2)])
        scene.pass(.milliseconds(200))
        #expect(scene.compact() == [Revision(4)])
        scene.pass(.days(1))
        #expect(scene.compact() == [Revision(6)])
    }

    /// Begins again with ends that a daemon noticed this long before now, by the system clock as it is set now.
    private mutating func restart(with ages: [Duration]) {
        let clocks = scene.clocks
        scene = RunningTimetable(limits: scene.timetable.limits)
        scene.clocks = clocks
        for (index, age) in ages.enumerated() {
            let ended = KeyedCountdown(
                key: key("\(index)"),
                phase: .finished(at: scene.now.wall - age, late: .zero),
                clock: .elapsed,
                duration: .seconds(60),
                started: scene.now.wall - age - .seconds(60),
                revision: Revision(Int64(index + 1))
            )
            scene.timetable.restore(ended)
        }
        _ = scene.timetable.flush()
        #expect(scene.compact().isEmpty)
        let revision = Revision(Int64(ages.count))
        scene.timetable.resume(at: revision, oldest: Revision(0), gaps: [], now: scene.now)
        #expect(scene.compact().isEmpty)
    }

    @Test("after a start, ends have their age when the system clock was not set for an hour")
    mutating func restored() {
        restart(with: [.days(8), .days(7) - .minutes(30), .days(6)].map { $0 + .days(30) })
        scene.pass(.minutes(59))
        #expect(scene.compact().isEmpty)
        setClock(by: .zero - .days(30))
        scene.pass(.minutes(59))
        #expect(scene.compact().isEmpty)
        scene.pass(.minutes(1))
        // Between the starts of this hour and of the last one, the second end has become old.
        #expect(scene.compact() == [Revision(1), Revision(2)])
        setClock(by: .days(30))
        #expect(scene.compact().isEmpty)
        scene.pass(.days(1) - .minutes(119))
        #expect(scene.compact().isEmpty)
        scene.pass(.microseconds(1))
        #expect(scene.compact() == [Revision(3)])
    }

    @Test("between ends that seem to be years apart, a day counts, and an end in the future is of the start")
    mutating func implausible() {
        restart(with: [.years(56), .years(56), .hours(2), .zero - .years(50)])
        scene.pass(.days(5))
        #expect(scene.compact().isEmpty)
        for compacted in [[Revision(1), Revision(2)], [Revision(3)], [Revision(4)]] {
            scene.pass(.microseconds(1))
            #expect(scene.compact() == compacted)
            scene.pass(.days(1) - .microseconds(1))
            #expect(scene.compact().isEmpty)
        }
    }

    @Test("is compacted within a budget")
    mutating func parts() throws {
        for index in 0..<15 { try end("\(index)") }
        var limit = 2
        #expect(scene.timetable.compact(at: scene.now, budget: &limit).count == 2)
        #expect(limit == 0)
        #expect(scene.timetable.oldestRevision == Revision(4))
        limit = 100
        #expect(scene.timetable.compact(at: scene.now, budget: &limit).count == 3)
        #expect(limit == 97)
    }

    // MARK: A forgotten countdown over a kept end

    @Test("the newest kept end is the answer again once a countdown that is not kept has ended under its key")
    mutating func endUnderForgotten() throws {
        try end("k")
        try end("k")
        let kept = scene["k"]
        try end("k", forget: true)
        #expect(scene["k"] == kept)
        try scene.start("k", seconds: 1, forget: true)
        scene.pass(.seconds(1))
        scene.endDue()
        scene.compact()
        #expect(scene["k"] == kept)
        #expect(scene.timetable.known.map(\.revision.number) == [2, 4])
    }

    @Test("a kept end comes back if only a restart said that the countdown is not kept")
    mutating func restartedToForget() throws {
        try end("k")
        let kept = scene["k"]
        try scene.start("k")
        try scene.start("k", nil, .restart, forget: true)
        try scene.ask(.cancel(key("k")))
        #expect(scene["k"] == kept)
    }

    @Test("an end that was compacted while a countdown ran under its key does not come back")
    mutating func compactedUnderForgotten() throws {
        try end("k")
        try scene.start("k", nil, forget: true)
        for index in 0..<10 { try end("\(index)") }
        #expect(scene.compact() == [Revision(2)])
        // The slot of the end is another countdown's by now.
        try scene.start("other")
        try scene.ask(.cancel(key("k")))
        #expect(scene["k"] == nil)
    }

    // MARK: Resuming

    @Test("can be resumed from each revision after which it is complete")
    mutating func canResume() throws {
        for index in 0..<15 { try end("\(index)") }
        scene.compact()
        #expect((0...40).filter { scene.canResume(after: Revision($0)) } == Array(10...30))
    }

    @Test("cannot be resumed from within a gap")
    mutating func gaps() {
        scene.timetable.resume(
            at: Revision(20),
            oldest: Revision(3),
            gaps: [Revision(5)...Revision(7), Revision(12)...Revision(12)],
            now: scene.now
        )
        #expect(
            (0...22).filter { scene.canResume(after: Revision($0)) } == [3, 4, 8, 9, 10, 11] + Array(13...20)
        )
    }

    @Test("continues after the revision at which it is resumed, and never goes back")
    mutating func goesOn() throws {
        scene.timetable.resume(at: Revision(100), oldest: Revision(0), gaps: [], now: scene.now)
        scene.timetable.resume(at: Revision(50), oldest: Revision(0), gaps: [], now: scene.now)
        try scene.start("k")
        #expect(scene["k"]?.revision == Revision(101))
    }
}
