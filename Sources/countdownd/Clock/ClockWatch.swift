import CLinux
import Glibc

/// Becomes readable when somebody sets the system clock.
///
/// It tells of a resume from suspend too; whether the clock was set, only the clocks can say. libdispatch does not watch
/// for it, so that without this an alarm would be right only at the next wake-up.
struct ClockWatch: ~Copyable {
    private let timer: Descriptor

    var descriptor: Int32 { timer.number }

    init() throws(SystemFailure) {
        timer = try Descriptor(owning: linux_clock_watch_create(), of: "timerfd_create")
        arm()
    }

    /// Takes note of a change and waits for the next. To be called before the clocks are read: what comes after the
    /// reading is told then.
    func arm() {
        var expirations: UInt64 = 0
        _ = unsafe read(timer.number, &expirations, MemoryLayout<UInt64>.size)
        _ = linux_clock_watch_arm(timer.number)
    }
}
