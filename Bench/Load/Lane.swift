import CLinux
import Glibc

/// A connection to the server, with what has been received and not been looked at.
final class Lane {
    let descriptor: Int32
    private var buffer: [UInt8]
    private var length = 0

    init(to path: String, capacity: Int = 1 << 16) {
        descriptor = linux_unix_socket()
        buffer = [UInt8](repeating: 0, count: capacity)
        while linux_unix_connect(descriptor, path) != 0 {
            guard errno == EAGAIN else { fail("\(path): \(String(cString: strerror(errno)))") }
            usleep(1000)
        }
    }

    deinit { close(descriptor) }

    /// Lets calls wait for the socket.
    func block() { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }

    /// Sends all of it; waits where the server does not read.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            if count >= 0 {
                sent += count
                continue
            }
            guard errno == EAGAIN else { fail("write: \(String(cString: strerror(errno)))") }
            wait(for: POLLOUT)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func wait(for events: Int32, milliseconds: Int32 = -1) {
        var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&one, 1, milliseconds)
    }

    /// Receives what is there, and hands all that was not consumed before to the body, which says how much it consumed.
    ///
    /// - Returns: false where nothing was there.
    @discardableResult
    func receive(_ body: (UnsafeRawBufferPointer) -> Int) -> Bool {
        if length == buffer.count { buffer.append(contentsOf: repeatElement(0, count: buffer.count)) }
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + length, $0.count - length, 0) }
        guard count > 0 else {
            guard count < 0, errno == EAGAIN || errno == EINTR else { fail("the server has closed the connection") }
            return false
        }
        length += count
        let consumed = buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
        length -= consumed
        if length > 0, consumed > 0 {
            buffer.withUnsafeMutableBytes { _ = memmove($0.baseAddress!, $0.baseAddress! + consumed, length) }
        }
        return true
    }

    /// Receives one reply, and lets it go.
    func awaitReply(end: UInt8) {
        var isThere = false
        while !isThere {
            wait(for: POLLIN)
            receive { bytes in
                guard let place = bytes.firstIndex(of: end) else { return 0 }
                isThere = true
                return place + 1
            }
        }
    }
}

/// Many lanes in one epoll set.
struct LaneSet {
    private let epoll = linux_epoll_create()
    private var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))

    init(_ lanes: [Lane]) {
        for (index, lane) in lanes.enumerated() {
            linux_epoll_control(epoll, EPOLL_CTL_ADD, lane.descriptor, UInt32(LINUX_READABLE), UInt64(index))
        }
    }

    /// The lanes that have something; waits until one has.
    mutating func wait(_ body: (Int) -> Void) {
        let count = ready.withUnsafeMutableBufferPointer { linux_epoll_wait(epoll, $0.baseAddress, -1) }
        for index in 0..<max(0, Int(count)) { body(Int(ready[index].token)) }
    }
}
