import CProcess
import Foundation

/// The sanitizers under which this process and the executables built along with it run: `scripts/sanitize`.
public enum Sanitizers {
    /// Whether reads and writes of memory are checked.
    public static let watchAddresses = is_sanitized_for_addresses != 0
    /// Whether accesses of threads to the same memory are checked.
    public static let watchThreads = is_sanitized_for_threads != 0
    /// Whether C code is checked for undefined behavior.
    public static let watchUndefinedBehavior = is_sanitized_for_undefined_behavior != 0

    /// Whether a library can be preloaded, and memory and time are as for users.
    public static let areAbsent = !watchAddresses && !watchThreads

    /// The options of the sanitizers, which every child process needs too.
    static let options = ProcessInfo.processInfo.environment.filter { name, _ in
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains(name)
    }
}
