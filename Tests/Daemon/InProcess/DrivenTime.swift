import CountdownCore
import TestSupport

@testable import countdownd

/// A time that stands still until a test moves it, and wakes the daemon if it comes to the instant that the daemon waits for.
final class DrivenTime: Sendable {
    private struct State {
        var now: Now
        /// The instant that the daemon waits for.
        var alarm: WallInstant?
        var fire: @Sendable () -> Void = {}

        /// The call back to the daemon if the instant has come that it waits for.
        mutating func takeDue() -> (@Sendable () -> Void)? {
            guard let instant = alarm, instant <= now.wall else { return nil }
            alarm = nil
            return fire
        }
    }

    private let state: Guarded<State>

    init(wall: WallInstant = WallInstant(microseconds: 1_800_000_000_000_000)) {
        let boot = BootInstant(microseconds: 1_000_000_000)
        let offset = Duration(microseconds: wall.microseconds - boot.microseconds)
        state = Guarded(State(now: Now(boot: boot, offset: offset)))
    }

    var now: Now { state.withLock { $0.now } }

    /// The instant that the daemon waits for; nil if it waits for none.
    var alarm: WallInstant? { state.withLock { $0.alarm } }

    /// The time of a daemon, whose loop waits for the alarm alone.
    var source: TimeSource {
        TimeSource(
            boot: { self.now.boot },
            read: {
                let now = self.now
                return ClockOffset.Reading(before: now.boot, wall: now.wall, after: now.boot)
            },
            margins: TimerMargins(near: .zero, slack: .zero, spin: .zero, longWait: .zero),
            makeAlarm: { fire in
                self.state.withLock { $0.fire = fire }
                return { instant in self.change { $0.alarm = instant } }
            }
        )
    }

    /// Lets microseconds pass, and then sets the system clock forward by this many.
    func pass(_ span: Int64, thenSetBy step: Int64 = 0) {
        change { state in
            let (boot, offset) = (state.now.boot, state.now.offset)
            state.now = Now(boot: boot + Duration(microseconds: span), offset: offset + Duration(microseconds: step))
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let fire = state.withLock { state in
            body(&state)
            return state.takeDue()
        }
        fire?()
    }
}
