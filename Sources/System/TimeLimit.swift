import Glibc

/// How long a child process may take: at the end of that time it is asked to end, and after two seconds it is killed.
public struct TimeLimit: Sendable {
    /// When a signal is due.
    public private(set) var deadline: MonotonicDeadline
    /// Whether the process was asked to end.
    public private(set) var hasPassed = false

    /// A limit of microseconds, from now on.
    public init(microseconds: Int64) { deadline = .after(microseconds: microseconds) }

    /// When to kill a process that is asked to end now.
    public static var grace: MonotonicDeadline { .after(microseconds: 2_000_000) }

    /// Takes the signal for the process, SIGTERM and later SIGKILL; nil if none is due.
    public mutating func takeSignal() -> Int32? {
        guard deadline.hasPassed else { return nil }
        deadline = Self.grace
        defer { hasPassed = true }
        return hasPassed ? SIGKILL : SIGTERM
    }
}
