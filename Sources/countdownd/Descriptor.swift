import CLinux
import Glibc

/// An owned file descriptor, which is closed at the end of its lifetime.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over a descriptor that a call has just returned. Throws the call's errno if it is negative.
    init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    deinit {
        close(number)
    }
}

/// A system call that failed.
struct SystemFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// The failure of a call that has just returned -1.
    init(_ call: StaticString, code: Int32 = errno) {
        self.call = "\(call)"
        self.code = code
    }

    var description: String { "\(call): \(Self.text(of: code))" }

    static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

/// Descriptors in reserve. If clients have used up all others, the reserve is released, so that libdispatch's timer,
/// which opens its descriptor late, and the copy of the store still get theirs.
struct DescriptorReserve: ~Copyable {
    private static let size = 4

    private let original: Int32
    private var held: [Int32] = []

    /// Holds no descriptors before `fill`.
    ///
    /// - Parameter descriptor: a descriptor to duplicate, which must stay open as long as the reserve.
    init(of descriptor: Int32) {
        original = descriptor
    }

    /// Fills the reserve. Returns false if not all of it could be opened.
    mutating func fill() -> Bool {
        while held.count < Self.size {
            let descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            held.append(descriptor)
        }
        return true
    }

    mutating func release() {
        for descriptor in held { close(descriptor) }
        held = []
    }

    deinit {
        for descriptor in held { close(descriptor) }
    }
}

/// SIGTERM and SIGINT as a descriptor that becomes readable.
struct Signals: ~Copyable {
    private let signals: Descriptor

    var descriptor: Int32 { signals.number }

    /// Blocks the signals. Call it before other threads start, because they inherit it.
    static func take() throws(SystemFailure) {
        guard linux_take_signals() == 0 else { throw SystemFailure("pthread_sigmask") }
    }

    init() throws(SystemFailure) {
        signals = try Descriptor(owning: linux_signal_descriptor(), of: "signalfd")
    }
}
