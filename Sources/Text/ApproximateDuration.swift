/// A duration as people say it, in its two largest units: `250 ms`, `7 s`, `12 min 5 s`, `2 h 3 min`, `3 d 4 h`.
public enum ApproximateDuration {
    /// A unit. The raw value is its symbol.
    public enum Unit: String, CaseIterable, Sendable {
        /// A day.
        case day = "d"
        /// An hour.
        case hour = "h"
        /// A minute.
        case minute = "min"
        /// A second.
        case second = "s"
        /// A millisecond.
        case millisecond = "ms"
    }

    /// The text of a duration in microseconds, rounded down. A unit that is 0 is left out; a negative duration counts as 0.
    public static func text(_ microseconds: Int64) -> String {
        parts(microseconds).map { "\($0.number) \($0.unit.rawValue)" }.joined(separator: " ")
    }

    /// The numbers of that text with their units, one or two.
    public static func parts(_ microseconds: Int64) -> [(number: Int64, unit: Unit)] {
        let milliseconds = max(0, microseconds) / 1_000
        guard milliseconds >= 1_000 || milliseconds == 0 else { return [(milliseconds, .millisecond)] }
        let seconds = milliseconds / 1_000
        let units: [(number: Int64, unit: Unit)] = [
            (seconds / 86_400, .day), (seconds / 3_600 % 24, .hour), (seconds / 60 % 60, .minute),
            (seconds % 60, .second),
        ]
        guard let first = units.firstIndex(where: { $0.number > 0 }) else { return [(0, .second)] }
        return units[first...].prefix(2).filter { $0.number > 0 }
    }
}
