import Glibc

/// A pipe that no program inherits, unless it is given one of the ends.
struct Pipe: ~Copyable {
    let reading: PipeEnd
    let writing: PipeEnd

    /// Nil if the system refuses; errno says why.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = PipeEnd(descriptor: ends[0])
        writing = PipeEnd(descriptor: ends[1])
    }

    /// One of its ends, which closes itself.
    struct PipeEnd: ~Copyable {
        let descriptor: Int32

        /// Lets no read and no write wait.
        func stopBlocking() { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }

        deinit {
            close(descriptor)
        }
    }
}
