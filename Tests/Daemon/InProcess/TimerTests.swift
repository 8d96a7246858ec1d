import CountdownCore
import Dispatch
import Testing

@testable import countdownd

@Suite("The timer")
struct TimerTests {
    /// A timer with the loop that it wakes.
    private final class TimerRun {
        private let eventLoop: EventLoop
        private var poller: Poller
        private var timer: Timer
        /// How often the loop woke up.
        private(set) var wakeUps = 0

        init() throws {
            let eventLoop = try EventLoop()
            self.eventLoop = eventLoop
            timer = Timer(.system) { eventLoop.wakeUp() }
            poller = try Poller()
            try poller.add(eventLoop.descriptor, token: 1)
        }

        func arm(at instant: WallInstant) { timer.arm(at: instant, now: TimeSource.systemClock) }

        /// Waits once, as the loop does.
        func wait() {
            if !poller.wait(for: timer.timeLeft(at: TimeSource.systemClock)).isEmpty { _ = eventLoop.takeJobs() }
            while timer.isImminent(at: TimeSource.systemClock) {}
            wakeUps += 1
        }
    }

    @Test(
        "an instant comes, whether the alarm or the loop waits for it",
        arguments: [100, 2_000, 20_000, 20_100, 50_000]
    )
    func comes(microseconds: Int64) throws {
        let run = try TimerRun()
        let instant = TimeSource.systemClock + Duration(microseconds: microseconds)
        run.arm(at: instant)
        // The alarm comes early, and a wait may be interrupted.
        while TimeSource.systemClock < instant, run.wakeUps < 10 { run.wait() }
        #expect(TimeSource.systemClock >= instant)
    }

    @Test("an instant that has passed is not waited for, however long ago it was")
    func passed() throws {
        for span in [Duration.zero, .milliseconds(1), .seconds(1_000_000_000), .seconds(3_000_000_000)] {
            let run = try TimerRun()
            run.arm(at: TimeSource.systemClock - span)
            run.wait()
            #expect(run.wakeUps == 1)
        }
    }

    @Test("an earlier instant takes the place of a later one, and a later one that of one that has passed")
    func earliest() {
        let (now, second) = (WallInstant(microseconds: 1_000_000_000), Duration.seconds(1))
        var timer = Timer(.system) {}
        // The rest is for reading the clock.
        let millisecond = Duration.milliseconds(1) - Duration(microseconds: 40)
        func left(_ timer: borrowing Timer, _ instant: WallInstant) -> Duration? { timer.timeLeft(at: instant) }
        timer.arm(at: now + second, now: now)
        #expect(left(timer, now) == nil)
        #expect(left(timer, now + second - .milliseconds(1)) == millisecond)
        timer.arm(at: now + .milliseconds(1), now: now)
        #expect(left(timer, now) == millisecond)
        timer.arm(at: now + second, now: now)
        #expect(left(timer, now) == millisecond)
        timer.arm(at: now + .milliseconds(3), now: now + .milliseconds(1))
        #expect(left(timer, now + .milliseconds(2)) == millisecond)
        timer.arm(at: nil, now: now + .milliseconds(3))
        #expect(left(timer, now + .milliseconds(3)) == nil)
    }

    @Test("the clock is read only in the last moment before the instant")
    func imminent() {
        let instant = WallInstant(microseconds: 1_000_000_000)
        var timer = Timer(.system) {}
        let isUnarmed = !timer.isImminent(at: instant)
        #expect(isUnarmed)
        timer.arm(at: instant, now: instant - .milliseconds(1))
        let moments = [-41, -40, -1, 0, 1].map { timer.isImminent(at: instant + Duration(microseconds: $0)) }
        #expect(moments == [false, true, true, false, false])
    }

    @Test("if the system clock is set back, the alarm waits for an instant that was near")
    func setBack() {
        let instant = TimeSource.systemClock + .milliseconds(50)
        let fired = DispatchSemaphore(value: 0)
        var timer = Timer(.system) { fired.signal() }
        timer.arm(at: instant, now: instant - .milliseconds(1))
        timer.arm(at: instant, now: instant - .milliseconds(50))
        #expect(fired.wait(timeout: .now() + 60) == .success)
    }
}
