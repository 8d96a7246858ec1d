/// A length of time in microseconds; negative where it lies in the past.
///
/// All arithmetic here saturates: no input, however absurd, can overflow into a trap.
public struct TimeSpan: Comparable, Hashable, Sendable {
    public let microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// No time at all.
    public static let zero = TimeSpan(microseconds: 0)

    /// So many seconds.
    public static func seconds(_ seconds: Int64) -> TimeSpan {
        TimeSpan(microseconds: seconds.saturatingMultiplied(by: 1_000_000))
    }

    /// So many milliseconds.
    public static func milliseconds(_ milliseconds: Int64) -> TimeSpan {
        TimeSpan(microseconds: milliseconds.saturatingMultiplied(by: 1_000))
    }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: left.microseconds.saturatingAdded(right.microseconds))
    }

    public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: left.microseconds.saturatingSubtracted(right.microseconds))
    }
}

/// A point on the line of one clock, in microseconds.
///
/// The clock is a type, so that instants of different clocks cannot be compared or mixed.
public struct Instant<Line: ClockLine>: Comparable, Hashable, Sendable {
    /// Microseconds since the line's origin.
    public let microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (instant: Self, span: TimeSpan) -> Self {
        Self(microseconds: instant.microseconds.saturatingAdded(span.microseconds))
    }

    public static func - (instant: Self, span: TimeSpan) -> Self {
        Self(microseconds: instant.microseconds.saturatingSubtracted(span.microseconds))
    }

    /// How far the left instant lies after the right one.
    public static func - (left: Self, right: Self) -> TimeSpan {
        TimeSpan(microseconds: left.microseconds.saturatingSubtracted(right.microseconds))
    }
}

/// What tells instants of one clock from those of another.
public protocol ClockLine: Sendable {}

/// `CLOCK_REALTIME`: microseconds since 1970-01-01T00:00:00Z; somebody may set it.
public enum WallLine: ClockLine {}

/// `CLOCK_BOOTTIME`: microseconds since boot; it runs on in suspend and nobody can set it.
public enum BootLine: ClockLine {}

/// An instant of the system clock.
public typealias WallInstant = Instant<WallLine>

/// An instant of the clock that runs from boot on.
public typealias BootInstant = Instant<BootLine>

/// One instant, as both clocks tell it.
public struct Now: Hashable, Sendable {
    public let boot: BootInstant
    /// The system clock less the boot clock; held from one step of the system clock to the next.
    public let offset: TimeSpan

    public init(boot: BootInstant, offset: TimeSpan) {
        self.boot = boot
        self.offset = offset
    }

    /// What the system clock says.
    public var wall: WallInstant { wall(of: boot) }

    /// What the system clock says at an instant of the boot clock, as it is set now.
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

/// The earlier of two instants, that which there is where there is one.
public func earliest<Line: ClockLine>(_ left: Instant<Line>?, _ right: Instant<Line>?) -> Instant<Line>? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}
