/// How long to wait before the daemon is tried again.
public enum Reconnection {
    /// The microseconds before an attempt, the first being 0: none before that, as a daemon that is started again has
    /// its socket kept by its service manager; then 100 ms, doubled each time up to half a minute.
    public static func pause(before attempt: Int) -> Int64 {
        guard attempt > 0 else { return 0 }
        return min(100_000 << Int64(min(attempt - 1, 20)), 30_000_000)
    }
}
