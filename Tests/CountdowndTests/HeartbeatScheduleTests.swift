import CountdownCore
import Testing

@testable import countdownd

@Suite("The schedule of heartbeats")
struct HeartbeatScheduleTests {
    private func instant(_ seconds: Int64) -> BootInstant { BootInstant(microseconds: seconds * 1_000_000) }

    @Test("the next one is due an interval after what was told last, not after it was looked for")
    func afterLastTold() {
        #expect(Heartbeats.next(after: instant(19), every: .seconds(10), at: instant(20)) == instant(29))
        #expect(Heartbeats.next(after: instant(20), every: .seconds(10), at: instant(20)) == instant(30))
    }

    @Test("a watcher that could not be told is looked after an interval later, not at once and for ever")
    func notTold() {
        #expect(Heartbeats.next(after: instant(10), every: .seconds(10), at: instant(20)) == instant(30))
        #expect(Heartbeats.next(after: instant(0), every: .seconds(10), at: instant(20)) == instant(30))
    }

    @Test("watchers are looked after in the order of their instants, none before its own, and none that has gone")
    func order() {
        var heartbeats = Heartbeats()
        for (token, seconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            heartbeats.set(UInt64(token), at: instant(Int64(seconds)))
        }
        heartbeats.remove(4)
        #expect(heartbeats.next == instant(10))
        #expect(heartbeats.takeDue(at: instant(9)) == nil)
        #expect(heartbeats.takeDue(at: instant(20)) == 2)
        #expect(heartbeats.takeDue(at: instant(20)) == 3)
        #expect(heartbeats.takeDue(at: instant(20)) == nil)
        #expect(heartbeats.next == instant(30))
    }
}
