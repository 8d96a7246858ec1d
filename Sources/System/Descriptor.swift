import Glibc

/// A file descriptor with one owner, which closes it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number to use in system calls.
    public let number: Int32

    /// Takes over a descriptor that a call has just returned.
    ///
    /// - Parameters:
    ///   - number: what the call returned; -1 if it failed and set errno.
    ///   - call: the name of the call.
    /// - Throws: the failure of the call.
    public init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    deinit {
        close(number)
    }
}

/// The file descriptors of this process.
public enum FileDescriptors {
    /// Opens `/dev/null` in place of each standard stream that is closed.
    ///
    /// Otherwise the next file or socket would get its number, and what is written to standard error would go there.
    /// Call it before anything else is opened.
    /// - Returns: whether all three standard streams are open now.
    public static func openStandardStreams() -> Bool {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // The lowest free number is the one that is missing, because the lower ones are open.
            guard unsafe open("/dev/null", O_RDWR) == stream else { return false }
        }
        return true
    }

    /// Counts the descriptors that can still be opened, up to a limit, by opening them for a moment.
    public static func free(upTo limit: Int) -> Int {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < limit {
            let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { break }
            opened.append(descriptor)
        }
        return opened.count
    }
}
