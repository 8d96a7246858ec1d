import Testing

@testable import CountdownCore

/// Ticks of countdowns in the same bucket, and of watchers that open later.
@Suite struct SharedTickTests {
    private let interval: Int64 = 1_000_000

    @Test("a countdown that joins a bucket that is due takes no tick from the others in it")
    func joiningADueBucket() throws {
        var wheel = TimingWheel(interval: Duration(microseconds: interval))
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 0)
        // 200 us after the tick at 1,000,100, which is not delivered yet.
        wheel.schedule(Slot(index: 1), revision: Revision(2), deadline: 5_000_300, now: 1_000_300)
        let ticks = take(all: 1_000_300, from: &wheel)
        #expect(ticks.map(\.slot.index) == [0])
        #expect(ticks.map(\.remaining) == [.seconds(9)])
    }

    @Test("a countdown that joins a bucket that is due has its own ticks on time")
    func ticksAfterJoiningADueBucket() {
        var wheel = TimingWheel(interval: Duration(microseconds: interval))
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 0)
        wheel.schedule(Slot(index: 1), revision: Revision(2), deadline: 5_000_900, now: 1_000_300)
        _ = take(all: 1_000_300, from: &wheel)
        #expect(wheel.next == 1_000_900)
        let ticks = take(all: 1_000_900, from: &wheel)
        #expect(ticks.map(\.slot.index) == [1])
    }

    @Test("a second watcher at the same interval takes no tick from the first")
    func joiningTwice() throws {
        var wheel = TimingWheel(interval: Duration(microseconds: interval))
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 0)
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 1_000_300)
        #expect(take(all: 1_000_300, from: &wheel).map(\.remaining) == [.seconds(9)])
    }

    @Test("ticks at many intervals come in the order of their instants, and an interval goes with its last watcher")
    func manyIntervals() throws {
        var timetable = Timetable(limits: Limits(), revision: Revision(0))
        let start = Now(boot: BootInstant(microseconds: 0), offset: .zero)
        let tea = try Key("tea")
        let request = Request.start(Request.Start(tea, .after(.seconds(60))))
        guard case .change(let change) = try timetable.decide(request, at: start) else { return }
        timetable.apply(change)
        let found = timetable.slot(under: tea)
        let slot = try #require(found)

        var watchers = Watchers()
        for number in 1...100 {
            let id = WatcherID(number)
            let selection = number % 2 == 0 ? Selection.everything : Selection(keys: [tea], patterns: [])
            watchers.add(id, following: selection, every: .milliseconds(Int64(1_000 + number)))
            watchers.schedule(slot, timetable[slot], for: id, at: start)
            watchers.open(id, at: start)
        }
        let later = Now(boot: BootInstant(microseconds: 2_000_000), offset: .zero)
        var delivered: [WatcherID] = []
        var limit = Int.max
        watchers.tick(at: later, in: timetable, budget: &limit) { _, subscribers in delivered += subscribers }
        #expect(Set(delivered).count == 100)
        #expect(delivered.count == 100)

        for number in 1...100 { watchers.remove(WatcherID(number)) }
        #expect(watchers.wantsTicks == false)
        #expect(watchers.nextTick(at: later) == nil)
    }

    private func take(all now: Int64, from wheel: inout TimingWheel) -> [TimingWheel.WheelTick] {
        var ticks: [TimingWheel.WheelTick] = []
        while let tick = wheel.popDue(at: now) {
            if tick.isNew, tick.remaining > .zero { ticks.append(tick) }
        }
        return ticks
    }
}
