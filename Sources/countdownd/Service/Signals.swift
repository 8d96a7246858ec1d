import CLinux
import Glibc

/// SIGTERM and SIGINT as something that can be read.
struct Signals: ~Copyable {
    private let signals: Descriptor

    var descriptor: Int32 { signals.number }

    /// Takes the signals over. To be called before there are other threads: they inherit it.
    static func take() throws(SystemFailure) {
        guard linux_take_signals() == 0 else { throw SystemFailure("pthread_sigmask") }
    }

    init() throws(SystemFailure) {
        signals = try Descriptor(owning: linux_signal_descriptor(), of: "signalfd")
    }
}
