import Foundation

/// A value that several threads use.
///
/// Its lock is one that the thread sanitizer knows. It reports races of threads that wait for a `Mutex` of Swift 6.3, because it does not
/// see that the kernel hands that on.
public final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Guards a value, which is used through `withLock` alone from then on.
    public init(_ value: sending Value) { self.value = value }

    /// Uses the value while no other thread does.
    public func withLock<Result>(_ body: (inout Value) throws -> sending Result) rethrows -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
