/// The pauses between attempts that fail again and again.
public enum Backoff {
    /// The microseconds to wait before an attempt: none before attempt 0, then 100 ms, doubled after each that failed,
    /// up to the greatest.
    public static func delay(before attempt: Int, upTo greatest: Int64 = 30_000_000) -> Int64 {
        guard attempt > 0 else { return 0 }
        return min(100_000 << Int64(min(attempt - 1, 20)), greatest)
    }
}
