/// A duration as people say it, in its two largest units: `250 ms`, `7 s`, `12 min 5 s`, `2 h 3 min`, `3 d 4 h`.
public enum ApproximateDuration {
    /// The text of a duration in microseconds, rounded down. A unit that is 0 is left out; a negative duration counts as 0.
    public static func text(_ microseconds: Int64) -> String {
        let milliseconds = max(0, microseconds) / 1_000
        guard milliseconds >= 1_000 || milliseconds == 0 else { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        let units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")]
        guard let first = units.firstIndex(where: { $0.0 > 0 }) else { return "0 s" }
        return units[first...].prefix(2).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
