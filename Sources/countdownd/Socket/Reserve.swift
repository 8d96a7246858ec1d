import Glibc

/// Descriptors that peers cannot take: where these have used up all others, they are given up, and there are some for
/// what cannot wait, as libdispatch's timer, which gets its own only once it is waited for, and the store's copying.
struct Reserve: ~Copyable {
    private static let size = 4

    private let original: Int32
    private var held: [Int32] = []

    /// Holds nothing before it is filled.
    ///
    /// - Parameter descriptor: stays open as long as the reserve, which duplicates it.
    init(of descriptor: Int32) {
        original = descriptor
    }

    /// Takes what is missing; false where not all of it can be had.
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
