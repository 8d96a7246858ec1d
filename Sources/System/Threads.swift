import CLinux

/// The threads of this process.
public enum Threads {
    /// Whether this many threads can run beside the caller, by starting them for a moment.
    ///
    /// libdispatch waits forever for a thread that the system refuses to start (`RLIMIT_NPROC`, `pids.max`).
    public static func canStart(_ count: Int) -> Bool {
        linux_can_start_threads(Int32(clamping: count)) == 0
    }
}
