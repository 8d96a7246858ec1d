import CountdownCore
import Testing

@testable import countdownd

@Suite("The schedule of heartbeats")
struct HeartbeatScheduleTests {
    private func instant(_ seconds: Int64) -> BootInstant { BootInstant(microseconds: seconds * 1_000_000) }

    @Test("the next heartbeat is due an interval after the last event")
    func afterLastTold() {
        #expect(Heartbeats.next(after: instant(19), every: .seconds(10), at: instant(20)) == instant(29))
        #expect(Heartbeats.next(after: instant(20), every: .seconds(10), at: instant(20)) == instant(30))
    }

    @Test("a watcher that does not read is looked at again an interval later")
    func notTold() {
        #expect(Heartbeats.next(after: instant(10), every: .seconds(10), at: instant(20)) == instant(30))
        #expect(Heartbeats.next(after: instant(0), every: .seconds(10), at: instant(20)) == instant(30))
    }

    @Test("watchers come in the order of their instants, each once")
    func order() {
        var heartbeats = Heartbeats()
        #expect(heartbeats.next == nil)
        for (token, seconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] as [(UInt64, Int64)] {
            heartbeats.add(token, at: instant(seconds))
        }
        #expect(heartbeats.next == instant(10))
        #expect(heartbeats.takeDue(at: instant(9)) == nil)
        let first = [heartbeats.takeDue(at: instant(10)), heartbeats.takeDue(at: instant(10))]
        #expect(Set(first) == [2, 4])
        #expect(heartbeats.takeDue(at: instant(10)) == nil)
        #expect(heartbeats.next == instant(20))
        #expect(heartbeats.takeDue(at: instant(99)) == 3)
        #expect(heartbeats.takeDue(at: instant(99)) == 1)
        #expect(heartbeats.next == nil)
    }

    @Test("a watcher that was removed does not come")
    func gone() {
        var heartbeats = Heartbeats()
        for token: UInt64 in [1, 2, 3] { heartbeats.add(token, at: instant(Int64(token))) }
        heartbeats.remove(1)
        #expect(heartbeats.next == instant(2))
        heartbeats.remove(3)
        #expect(heartbeats.takeDue(at: instant(99)) == 2)
        #expect(heartbeats.takeDue(at: instant(99)) == nil)
    }
}
