import CountdownCore
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import countdownd

@Suite("The timer")
struct TimerTests {
    /// A timer on a queue, and when it fired.
    private final class Ringing: Sendable {
        private let queue = DispatchQueue(label: "alarm")
        private let alarm: Mutex<Timer>
        private let rung = Mutex<WallInstant?>(nil)
        private let told = DispatchSemaphore(value: 0)

        init() {
            alarm = Mutex(Timer(queue: queue))
        }

        func ring(at instant: WallInstant) -> WallInstant? {
            alarm.withLock { alarm in
                alarm.start { [self] in
                    self.alarm.withLock { $0.hasFired(by: Clocks.systemClock) }
                    rung.withLock { $0 = Clocks.systemClock() }
                    told.signal()
                }
                alarm.arm(at: instant)
            }
            guard told.wait(timeout: .now() + 60) == .success else { return nil }
            return rung.withLock(\.self)
        }
    }

    @Test("never fires before its instant, though libdispatch is armed earlier")
    func notEarly() throws {
        for _ in 0..<20 {
            let instant = Clocks.systemClock() + .milliseconds(2)
            #expect(try #require(Ringing().ring(at: instant)) >= instant)
        }
    }

    @Test("fires at once for an instant that has passed, however long ago")
    func passed() throws {
        for span in [Duration.zero, .milliseconds(1), .seconds(1_000_000_000), .seconds(3_000_000_000)] {
            #expect(Ringing().ring(at: Clocks.systemClock() - span) != nil)
        }
    }
}
