import Glibc

/// Descriptors in reserve. If clients have used up all others, the reserve is released, so that libdispatch's timer,
/// which opens its descriptor late, and the next file of the log still get theirs.
struct DescriptorReserve: ~Copyable {
    private static let size = 4
    /// The number of descriptors for connections that are refused, at most.
    private static let mostRefusals: rlim_t = 64

    /// Copies of standard error; none before `fill`.
    private var held: [Int32] = []

    /// Fills the reserve. Returns false if not all of it could be opened.
    mutating func fill() -> Bool {
        while held.count < Self.size {
            let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            held.append(descriptor)
        }
        return true
    }

    mutating func release() {
        for descriptor in held { close(descriptor) }
        held = []
    }

    /// Whether this descriptor is one of the last that the process may open. The last ones are for connections that are refused, so
    /// that even then a client gets an answer.
    func isAlmostLast(_ descriptor: Int32) -> Bool {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        return rlim_t(descriptor) >= limit.rlim_cur - min(Self.mostRefusals, limit.rlim_cur / 8)
    }

    deinit {
        for descriptor in held { close(descriptor) }
    }
}
