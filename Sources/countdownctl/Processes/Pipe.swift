import Glibc

/// A pipe that no program inherits, unless it is given one of the ends.
struct Pipe: ~Copyable {
    let reading: End
    let writing: End

    /// Nil where the system has no more room, as errno says.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = End(descriptor: ends[0])
        writing = End(descriptor: ends[1])
    }

    /// One of its ends, which closes itself.
    struct End: ~Copyable {
        let descriptor: Int32

        /// Lets no read and no write wait.
        func stopBlocking() { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }

        deinit {
            close(descriptor)
        }
    }
}
