import CountdownCore
import Synchronization

@testable import countdownd

/// Clocks that stand still until a test sets them.
final class SetClocks: Sendable {
    private let state: Mutex<Now>

    /// - Parameter wall: late enough that no timer of this machine fires for it.
    init(wall: WallInstant = WallInstant(microseconds: 4_000_000_000_000_000)) {
        let boot = BootInstant(microseconds: 1_000_000_000)
        state = Mutex(Now(boot: boot, offset: Duration(microseconds: wall.microseconds - boot.microseconds)))
    }

    var now: Now { state.withLock { $0 } }

    /// The reading of a daemon.
    var clocks: Clocks { clocks(followEngine: false) }

    /// The reading of a daemon, which may be a member of a fleet.
    func clocks(followEngine: Bool) -> Clocks {
        Clocks(
            reading: { [self] in
                let now = now
                return ClockOffset.Reading(before: now.boot, wall: now.wall, after: now.boot)
            },
            followsEngine: followEngine
        )
    }

    /// Lets time pass, and then sets the system clock forward by this much.
    func pass(_ span: Duration, thenSetBy step: Duration = .zero) {
        state.withLock { $0 = Now(boot: $0.boot + span, offset: $0.offset + step) }
    }
}
