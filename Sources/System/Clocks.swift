import CLinux
import Glibc

/// The system clock.
public enum WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public static var now: Int64 { microseconds(of: CLOCK_REALTIME) }

    /// The local date and time of an instant in microseconds since 1970, in the time zone that is set now:
    /// `2026-01-31 17:30`.
    public static func localMinute(_ instant: Int64) -> String {
        tzset()
        return unsafe String(unsafeUninitializedCapacity: Int(LINUX_MINUTE_LENGTH)) {
            unsafe Int(linux_local_minute(time_t(instant / 1_000_000), $0.baseAddress))
        }
    }
}

/// The boot clock, which continues while the machine is suspended and cannot be set.
public enum BootClock {
    /// Microseconds since the machine was booted.
    public static var now: Int64 { microseconds(of: CLOCK_BOOTTIME) }
}

/// A timer of the boot clock.
public struct BootTimer: ~Copyable {
    private let owned: Descriptor

    /// The descriptor to poll: it is readable from the instant on, until another one is set.
    public var descriptor: Int32 { owned.number }

    /// A timer that is not set. If it wakes, it ends a suspend of the machine; otherwise it fires at the resume if its
    /// instant passed meanwhile. Throws EPERM if it wakes, and the process lacks CAP_WAKE_ALARM.
    public init(wakes: Bool = false) throws(SystemFailure) {
        let number = timerfd_create(wakes ? CLOCK_BOOTTIME_ALARM : CLOCK_BOOTTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        owned = try Descriptor(owning: number, of: "timerfd_create")
    }

    /// Sets the instant, in microseconds of the boot clock; nil for never.
    public func set(_ bootUSec: Int64?) {
        // An instant of 0 would stop the timer.
        _ = linux_boot_timer_set(descriptor, bootUSec.map { max($0, 1) } ?? 0)
    }
}

/// An instant of the monotonic clock up to which a caller waits. Setting the system clock does not move it.
public struct MonotonicDeadline: Sendable, Hashable, Comparable {
    /// Microseconds of CLOCK_MONOTONIC.
    public let monotonicUSec: Int64

    /// A deadline at an instant in microseconds of CLOCK_MONOTONIC.
    public init(monotonicUSec: Int64) { self.monotonicUSec = monotonicUSec }

    /// A deadline a number of microseconds from now.
    public static func after(microseconds: Int64) -> MonotonicDeadline {
        let (sum, overflow) = now.addingReportingOverflow(microseconds)
        return MonotonicDeadline(monotonicUSec: overflow ? .max : sum)
    }

    /// A deadline in the past, with which a call does not wait.
    public static let passed = MonotonicDeadline(monotonicUSec: .min)

    /// The microseconds until the deadline; 0 if it has passed.
    public var remainingUSec: Int64 {
        let now = Self.now
        return monotonicUSec > now ? monotonicUSec - now : 0
    }

    /// Whether the deadline has passed.
    public var hasPassed: Bool { remainingUSec == 0 }

    /// An earlier deadline is less than a later one.
    public static func < (left: MonotonicDeadline, right: MonotonicDeadline) -> Bool {
        left.monotonicUSec < right.monotonicUSec
    }

    /// The timeout for poll(2) in milliseconds, rounded up so that poll(2) does not return too early. It is at most 24
    /// days, so a caller checks the deadline afterwards.
    package var pollTimeout: Int32 { Self.milliseconds(of: remainingUSec) }

    /// Whole milliseconds, rounded up.
    static func milliseconds(of microseconds: Int64) -> Int32 {
        Int32(clamping: microseconds / 1_000 + (microseconds % 1_000 == 0 ? 0 : 1))
    }

    private static var now: Int64 { microseconds(of: CLOCK_MONOTONIC) }
}

private func microseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
