import CLinux
import Glibc

/// Signals that are read from a descriptor, see signalfd(2). They no longer have their default effect.
public struct SignalDescriptor: ~Copyable, Sendable {
    private let owned: Descriptor

    /// The descriptor to poll: it is readable when a signal has arrived.
    public var descriptor: Int32 { owned.number }

    /// Blocks signals in this thread and in the threads that it starts later. Signals that the program was started to
    /// ignore stay ignored.
    public init(_ signals: [Int32]) throws(SystemFailure) {
        // If SIGCHLD is ignored, the kernel reaps children and no signal arrives.
        if signals.contains(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
        let number = unsafe signals.withUnsafeBufferPointer {
            unsafe linux_signal_descriptor($0.baseAddress, Int32($0.count))
        }
        owned = try Descriptor(owning: number, of: "signalfd")
    }

    /// The next signal that has arrived, or nil.
    public func next() -> Int32? { nextWithOrigin()?.signal }

    /// The next signal that has arrived, and whether the kernel sent it, as for a key of the terminal; or nil.
    public func nextWithOrigin() -> (signal: Int32, isFromKernel: Bool)? {
        var code: Int32 = 0
        let signal = unsafe linux_next_signal(descriptor, &code)
        return signal > 0 ? (signal, code == SI_KERNEL) : nil
    }
}
