import CProcess
import Foundation

/// The sanitizers that this process runs under, as do the executables that were built along with it: `make sanitize`.
public enum Sanitizers {
    /// Whether reads and writes of memory are watched.
    public static let watchAddresses = is_sanitized_for_addresses != 0
    /// Whether it is watched which thread reads and writes what.
    public static let watchThreads = is_sanitized_for_threads != 0
    /// Whether C code is watched for what its language does not define.
    public static let watchUndefinedBehavior = is_sanitized_for_undefined_behavior != 0

    /// Whether a library can be loaded before all others, and memory and time are what they are for users.
    public static let areAbsent = !watchAddresses && !watchThreads

    /// What tells them how to behave; every child process needs it too.
    static let options = ProcessInfo.processInfo.environment.filter { name, _ in
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains(name)
    }
}
