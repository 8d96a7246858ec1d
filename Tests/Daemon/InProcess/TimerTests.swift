import CountdownCore
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import countdownd

@Suite("The timer")
struct TimerTests {
    /// A timer on a queue, and when it fired.
    private final class TimerRun: Sendable {
        private let queue = DispatchQueue(label: "timer")
        private let timer: Mutex<Timer>
        private let firedAt = Mutex<WallInstant?>(nil)
        private let fired = DispatchSemaphore(value: 0)

        init() {
            timer = Mutex(Timer(queue: queue))
        }

        func fire(at instant: WallInstant) -> WallInstant? {
            timer.withLock { timer in
                timer.start { [self] in
                    self.timer.withLock { $0.hasFired(by: Clocks.systemClock) }
                    firedAt.withLock { $0 = Clocks.systemClock() }
                    fired.signal()
                }
                timer.arm(at: instant)
            }
            guard fired.wait(timeout: .now() + 60) == .success else { return nil }
            return firedAt.withLock(\.self)
        }
    }

    @Test("never fires before its instant, though libdispatch is armed earlier")
    func notEarly() throws {
        for _ in 0..<20 {
            let instant = Clocks.systemClock() + .milliseconds(2)
            #expect(try #require(TimerRun().fire(at: instant)) >= instant)
        }
    }

    @Test("fires at once for an instant that has passed, however long ago")
    func passed() throws {
        for span in [Duration.zero, .milliseconds(1), .seconds(1_000_000_000), .seconds(3_000_000_000)] {
            #expect(TimerRun().fire(at: Clocks.systemClock() - span) != nil)
        }
    }
}
