import CLinux
import Glibc

/// Signals as something that is polled for. From its making on they no longer do what they do by themselves.
struct SignalDescriptor: ~Copyable {
    let descriptor: Int32

    /// Takes these signals, but those that this program was started to ignore.
    ///
    /// - Throws: that the system has no more room.
    init(_ signals: [Int32]) throws(Failure) {
        // Where it is ignored, a process that has ended leaves no word of it.
        if signals.contains(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
        descriptor = unsafe signals.withUnsafeBufferPointer {
            unsafe linux_signal_descriptor_of($0.baseAddress, Int32($0.count))
        }
        guard descriptor >= 0 else { throw Failure(.internalFault, "cannot wait for signals: \(systemMessage(errno))") }
    }

    deinit {
        close(descriptor)
    }

    /// The next one that came; nil where there is none.
    func next() -> Int32? {
        let signal = linux_next_signal(descriptor)
        return signal > 0 ? signal : nil
    }

    /// Lets a signal do what it does by itself: stop the process, or end it, so that whoever started it sees by what.
    static func obey(_ number: Int32) {
        // Swift's own handlers of crashes have more to say than anybody wants to know here.
        signal(number, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, number)
        raise(number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
