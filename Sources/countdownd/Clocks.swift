import CLinux
import CountdownCore
import Glibc
import System

/// The time of the daemon, as its turns see it.
struct Clocks {
    private let time: TimeSource
    private var offset: ClockOffset
    /// The clock of the fleet's engine, which takes the place of the system clock; nil outside a fleet.
    private var engine: EngineClock?

    /// - Parameters:
    ///   - time: the source of the time.
    ///   - followsEngine: whether the daemon is a member of a fleet.
    init(_ time: TimeSource, followsEngine: Bool) {
        self.time = time
        offset = ClockOffset(time.read())
        engine = followsEngine ? EngineClock() : nil
    }

    /// Takes over the offset that an earlier daemon held in this boot, so that the deadlines it reported stay the same.
    mutating func hold(_ offset: Duration) {
        if engine == nil { self.offset = ClockOffset(held: offset) } else { engine?.hold(offset) }
    }

    /// Follows the engine's clock as the bridge has measured it: its time less the boot clock.
    mutating func follow(engineOffset: Duration) { engine?.follow(engineOffset, systemOffset: offset.held) }

    /// By how much the engine's clock is ahead of the system clock; nil if that is not known.
    var engineLead: Duration? { engine?.offset.map { $0 - offset.held } }

    /// Reads both clocks. In a fleet, the wall clock is the engine's.
    ///
    /// - Returns: the instant, and by how much the wall clock was set since the last reading; nil if it was not set.
    mutating func now() -> (now: Now, step: Duration?) {
        let (now, step) = offset.take(time.read())
        return engine?.now(at: now.boot) ?? (now, step)
    }

    /// The time of the system clock at an instant.
    func systemTime(at instant: WallInstant) -> WallInstant { engineLead.map { instant - $0 } ?? instant }

    /// The system clock by the offset of the last reading: a countdown is due when this has come, and not some microseconds
    /// before or after.
    var heldTime: WallInstant { Now(boot: time.boot(), offset: offset.held).wall }
}

/// Becomes readable when somebody sets the system clock.
///
/// It becomes readable after a resume from suspend, too; only the clocks can tell whether the system clock was set.
/// libdispatch does not watch for that, so without this monitor a timer would be wrong until the next wake-up.
struct ClockChangeMonitor: ~Copyable {
    private let timer: Descriptor

    var descriptor: Int32 { timer.number }

    init() throws(SystemFailure) {
        timer = try Descriptor(owning: linux_clock_watch_create(), of: "timerfd_create")
        arm()
    }

    /// Resets the monitor. Call it before the clocks are read, so that a later change is reported again.
    func arm() {
        var expirations: UInt64 = 0
        _ = unsafe read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        _ = linux_clock_watch_arm(timer.number)
    }
}
