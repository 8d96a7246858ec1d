/// A duration in microseconds; negative if it points into the past.
///
/// All arithmetic in this file saturates, so no input can overflow and trap.
public struct Duration: Comparable, Hashable, Sendable {
    /// The number of microseconds.
    public let microseconds: Int64

    /// A duration in microseconds.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// No time.
    public static let zero = Duration(microseconds: 0)

    /// A duration in seconds.
    public static func seconds(_ seconds: Int64) -> Duration {
        Duration(microseconds: seconds.saturatingMultiplied(by: 1_000_000))
    }

    /// A duration in milliseconds.
    public static func milliseconds(_ milliseconds: Int64) -> Duration {
        Duration(microseconds: milliseconds.saturatingMultiplied(by: 1_000))
    }

    /// A shorter duration is less than a longer one, a negative one less than zero.
    public static func < (left: Duration, right: Duration) -> Bool { left.microseconds < right.microseconds }

    /// The sum; the greatest or least duration if the sum is out of range.
    public static func + (left: Duration, right: Duration) -> Duration {
        Duration(microseconds: left.microseconds.saturatingAdded(right.microseconds))
    }

    /// The difference; the greatest or least duration if it is out of range.
    public static func - (left: Duration, right: Duration) -> Duration {
        Duration(microseconds: left.microseconds.saturatingSubtracted(right.microseconds))
    }
}

/// An instant on one clock, in microseconds.
///
/// The clock is part of the type, so that instants of different clocks cannot be mixed up.
public struct Instant<Line: ClockLine>: Comparable, Hashable, Sendable {
    /// Microseconds since the origin of the clock.
    public let microseconds: Int64

    /// An instant in microseconds since the origin of its clock.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// An earlier instant is less than a later one of the same clock.
    public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    /// The instant a duration later; the last or first one if it is out of range.
    public static func + (instant: Self, duration: Duration) -> Self {
        Self(microseconds: instant.microseconds.saturatingAdded(duration.microseconds))
    }

    /// The instant a duration earlier; the first or last one if it is out of range.
    public static func - (instant: Self, duration: Duration) -> Self {
        Self(microseconds: instant.microseconds.saturatingSubtracted(duration.microseconds))
    }

    /// The duration from the right instant to the left one.
    public static func - (left: Self, right: Self) -> Duration {
        Duration(microseconds: left.microseconds.saturatingSubtracted(right.microseconds))
    }
}

/// A clock, as a type parameter of `Instant`.
public protocol ClockLine: Sendable {}

/// `CLOCK_REALTIME`: microseconds since 1970-01-01T00:00:00Z; it can be set.
public enum WallLine: ClockLine {}

/// `CLOCK_BOOTTIME`: microseconds since boot; it runs on in suspend and cannot be set.
public enum BootLine: ClockLine {}

/// An instant of the system clock.
public typealias WallInstant = Instant<WallLine>

/// An instant of the boot clock.
public typealias BootInstant = Instant<BootLine>

/// One instant on both clocks.
public struct Now: Hashable, Sendable {
    /// The time of the boot clock.
    public let boot: BootInstant
    /// The system clock less the boot clock; held from one step of the system clock to the next.
    public let offset: Duration

    /// An instant by the boot clock and the offset of the system clock from it.
    public init(boot: BootInstant, offset: Duration) {
        self.boot = boot
        self.offset = offset
    }

    /// The time of the system clock.
    public var wall: WallInstant { wall(of: boot) }

    /// The time of the system clock at an instant of the boot clock, as it is set now.
    public func wall(of instant: BootInstant) -> WallInstant {
        WallInstant(microseconds: instant.microseconds.saturatingAdded(offset.microseconds))
    }
}

extension Int64 {
    func saturatingAdded(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func saturatingSubtracted(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func saturatingMultiplied(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}

/// The earlier of two optional instants.
public func earliest<Line: ClockLine>(_ left: Instant<Line>?, _ right: Instant<Line>?) -> Instant<Line>? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}
