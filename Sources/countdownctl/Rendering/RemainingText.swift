/// What remains, as timers show it: `0:07`, `4:59`, `1:02:03`, `3d 4:05:06`.
enum RemainingText {
    /// A second that has begun counts whole: a timer of five minutes shows 5:00 first, and 0:00 when it is over.
    static func render(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds / 1_000_000 + (microseconds % 1_000_000 > 0 ? 1 : 0))
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        let ending = "\(twoDigits(minutes)):\(twoDigits(seconds % 60))"
        if days > 0 { return "\(days)d \(hours):\(ending)" }
        return hours > 0 ? "\(hours):\(ending)" : "\(minutes):\(twoDigits(seconds % 60))"
    }
}

/// A number below 100, with a zero before it where it has one digit.
func twoDigits(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
