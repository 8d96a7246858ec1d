import CLinux
import Glibc

/// The standard streams and the limits of a process. A program checks them before it opens anything.
public enum Surroundings {
    /// A limit or a standard stream that the program cannot work with.
    public struct Shortage: Error, Equatable {
        /// The exit code that fits.
        public static let status: Int32 = EX_OSERR

        /// The limit, and what to do, for people.
        public let sentence: String
    }

    /// Opens `/dev/null` in place of each standard stream that is closed, and checks that this many descriptors are
    /// free, and that this many threads can run beside the caller.
    public static func check(descriptors: Int, threads: Int) throws(Shortage) {
        try openStandardStreams()
        let free = freeDescriptors(upTo: descriptors)
        guard free == descriptors else {
            throw Shortage(
                sentence: "only \(free) file descriptors are free, and \(descriptors) are needed: "
                    + "raise the limit (ulimit -n, or LimitNOFILE= of the unit)"
            )
        }
        // libdispatch waits forever for a thread that the system refuses to start (`RLIMIT_NPROC`, `pids.max`).
        guard linux_can_start_threads(Int32(clamping: threads)) == 0 else {
            throw Shortage(
                sentence: "\(threads) threads are needed, and the system does not start as many: "
                    + "raise the limit (ulimit -u, or TasksMax= of the unit)"
            )
        }
    }

    /// Opens `/dev/null` in place of each standard stream that is closed.
    ///
    /// Otherwise the next file or socket would get its number, and the program's messages would go there. Using
    /// the stream still fails with EBADF: standard input can only be written to, and the others can only be read.
    ///
    /// - Throws: that `/dev/null` cannot be opened.
    public static func openStandardStreams() throws(Shortage) {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // The lowest free number is the one that is missing, because the lower ones are open.
            guard unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) == stream else {
                throw Shortage(sentence: "a standard stream is closed, and /dev/null cannot be opened in its place")
            }
        }
    }

    /// Counts the descriptors that can still be opened, up to a limit, by opening them for a moment.
    private static func freeDescriptors(upTo limit: Int) -> Int {
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
