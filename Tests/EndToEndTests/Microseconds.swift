extension Int64 {
    /// So many seconds, as the interface counts them.
    static func seconds(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }

    /// So many milliseconds, as the interface counts them.
    static func milliseconds(_ milliseconds: Int64) -> Int64 { milliseconds * 1_000 }
}
