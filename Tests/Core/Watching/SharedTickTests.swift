import Testing

@testable import CountdownCore

/// Ticks of countdowns in the same bucket, and of watchers that open later.
@Suite struct SharedTickTests {
    private let interval: Int64 = 1_000_000

    @Test("a countdown that joins a bucket that is due takes no tick from the others in it, and has its own on time")
    func joiningADueBucket() {
        var wheel = TimingWheel(interval: Duration(microseconds: interval))
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 0)
        // 200 us after the tick at 1,000,100, which is not delivered yet.
        wheel.schedule(Slot(index: 1), revision: Revision(2), deadline: 5_000_900, now: 1_000_300)
        let ticks = take(all: 1_000_300, from: &wheel)
        #expect(ticks.map(\.slot.index) == [0])
        #expect(ticks.map(\.remaining) == [.seconds(9)])
        #expect(wheel.next == 1_000_900)
        #expect(take(all: 1_000_900, from: &wheel).map(\.slot.index) == [1])
    }

    @Test("a second watcher at the same interval takes no tick from the first")
    func joiningTwice() throws {
        var wheel = TimingWheel(interval: Duration(microseconds: interval))
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 0)
        wheel.schedule(Slot(index: 0), revision: Revision(1), deadline: 10_000_100, now: 1_000_300)
        #expect(take(all: 1_000_300, from: &wheel).map(\.remaining) == [.seconds(9)])
    }

    private func take(all now: Int64, from wheel: inout TimingWheel) -> [TimingWheel.WheelTick] {
        var ticks: [TimingWheel.WheelTick] = []
        while let tick = wheel.popDue(at: now) {
            if tick.isNew, tick.remaining > .zero { ticks.append(tick) }
        }
        return ticks
    }
}
