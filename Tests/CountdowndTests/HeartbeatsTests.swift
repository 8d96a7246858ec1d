import CountdownCore
import Testing

@testable import countdownd

@Suite("When heartbeats are due")
struct HeartbeatsTests {
    private func instant(_ seconds: Int64) -> BootInstant {
        BootInstant(microseconds: 0) + .seconds(seconds)
    }

    @Test("watchers are looked after in the order of their instants, those of one instant each once")
    func order() {
        var heartbeats = Heartbeats()
        #expect(heartbeats.next == nil)
        for (token, seconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] as [(UInt64, Int64)] {
            heartbeats.set(token, at: instant(seconds))
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

    @Test("a watcher that has gone is not looked after")
    func gone() {
        var heartbeats = Heartbeats()
        for token: UInt64 in [1, 2, 3] { heartbeats.set(token, at: instant(Int64(token))) }
        heartbeats.remove(1)
        #expect(heartbeats.next == instant(2))
        heartbeats.remove(3)
        #expect(heartbeats.takeDue(at: instant(99)) == 2)
        #expect(heartbeats.takeDue(at: instant(99)) == nil)
    }
}
