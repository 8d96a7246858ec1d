import System
import Varlink

extension Countdown {
    /// An instant of the system clock, to the microsecond.
    ///
    /// In a program that imports Foundation, `Date(timeIntervalSince1970: instant.secondsSince1970)` is the same instant.
    public struct Instant: InstantProtocol {
        /// Microseconds since 1970-01-01T00:00:00Z.
        package var microseconds: Int64

        package init(microseconds: Int64) { self.microseconds = microseconds }

        /// An instant, given in seconds since 1970-01-01T00:00:00Z.
        public init(secondsSince1970: Double) { microseconds = Duration.seconds(secondsSince1970).microseconds }

        /// The instant of the call.
        public static var now: Instant { Instant(microseconds: WallClock.now) }

        /// The seconds since 1970-01-01T00:00:00Z.
        public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

        /// The instant that is a duration later, or earlier if the duration is negative.
        public func advanced(by duration: Duration) -> Instant {
            Instant(microseconds: (.microseconds(microseconds) + duration).microseconds)
        }

        /// The duration from this instant to another one; negative if the other one is earlier.
        public func duration(to other: Instant) -> Duration {
            .microseconds(other.microseconds) - .microseconds(microseconds)
        }

        /// Whether the left instant is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.microseconds < right.microseconds }
    }
}

extension Duration {
    /// Whole microseconds, rounded up; the nearest number if the duration is too long for one.
    package var microseconds: Int64 { wholeMicroseconds }
}
