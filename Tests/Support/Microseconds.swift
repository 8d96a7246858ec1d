extension Int64 {
    /// This many seconds in microseconds.
    public static func seconds(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }

    /// This many milliseconds in microseconds.
    public static func milliseconds(_ milliseconds: Int64) -> Int64 { milliseconds * 1_000 }
}
