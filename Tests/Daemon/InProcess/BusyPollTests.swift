import CountdownCore
import Testing

@testable import countdownd

@Suite("Busy polling")
struct BusyPollTests {
    private var busyPoll = BusyPoll()

    private func instant(_ microseconds: Int64) -> BootInstant { BootInstant(microseconds: 1_000_000 + microseconds) }

    @Test("the first call, and an iteration without a call, are no reason to poll")
    mutating func first() {
        busyPoll.note(at: instant(0), calls: 0)
        #expect(!busyPoll.isWorthwhile)
        busyPoll.note(at: instant(10), calls: 1)
        #expect(!busyPoll.isWorthwhile)
        busyPoll.note(at: instant(20), calls: 1)
        busyPoll.note(at: instant(30), calls: 0)
        #expect(!busyPoll.isWorthwhile)
    }

    @Test("the loop polls if two calls were at most 150 µs apart", arguments: [(Int64(150), true), (151, false)])
    mutating func pause(pause: Int64, isWorthwhile: Bool) {
        busyPoll.note(at: instant(0), calls: 1)
        busyPoll.note(at: instant(pause), calls: 3)
        #expect(busyPoll.isWorthwhile == isWorthwhile)
    }

    @Test("after a poll in vain the loop sleeps until the next call")
    mutating func inVain() {
        busyPoll.note(at: instant(0), calls: 1)
        busyPoll.note(at: instant(50), calls: 1)
        busyPoll.stop()
        #expect(!busyPoll.isWorthwhile)
    }
}
