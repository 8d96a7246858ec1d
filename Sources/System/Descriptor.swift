import Glibc

/// A file descriptor with one owner, which closes it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number to use in system calls.
    public let number: Int32

    /// Takes over what a call has just returned: a descriptor, or -1 if it failed and set errno, which is thrown.
    public init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    /// Takes over an open descriptor.
    init(adopting number: Int32) { self.number = number }

    deinit {
        close(number)
    }
}

extension Descriptor {
    /// Writes everything, and waits for room if another process that shares the open file has made it non-blocking.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - number: an open descriptor.
    /// - Throws: the failed call; then any part may have been written.
    public static func writeAll(_ bytes: Span<UInt8>, to number: Int32) throws(SystemFailure) {
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(number, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done)
            }
            if written >= 0 {
                done += written
            } else if errno != EINTR {
                guard errno == EAGAIN else { throw SystemFailure("write") }
                var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&request, 1, -1) > 0 || errno == EINTR else { throw SystemFailure("poll") }
            }
        }
    }
}
