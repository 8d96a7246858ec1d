import CLinux
import Glibc

/// A connection to the server, with the received bytes that were not consumed yet.
final class Lane {
    let descriptor: Int32
    /// The error if the server closes the connection.
    var loss = { "the server has closed the connection" }

    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    private var length = 0

    /// Connects. At most `capacity` bytes are received at once.
    init(to path: String, capacity: Int = 1 << 16) {
        descriptor = linux_unix_socket()
        buffer = .allocate(byteCount: capacity, alignment: 16)
        self.capacity = capacity
        while linux_unix_connect(descriptor, path) != 0 {
            // The server's queue of new connections is full.
            guard errno == EAGAIN else { fail("\(path): \(String(cString: strerror(errno)))") }
            usleep(1000)
        }
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    /// Lets calls wait for the socket.
    func block() { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }

    /// Sends all bytes; waits if the server does not read.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                wait(for: POLLOUT)
            } else if errno != EINTR {
                fail("write: \(String(cString: strerror(errno)))")
            }
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Waits until the socket can be read or written, or for this many milliseconds.
    func wait(for events: Int32, milliseconds: Int = -1) {
        var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&one, 1, Int32(clamping: milliseconds))
    }

    /// Receives, and passes all bytes that were not consumed to the body, which returns how many it consumes.
    func receive(_ body: (Received) -> Int) {
        if length == capacity { grow() }
        let count = recv(descriptor, buffer + length, capacity - length, 0)
        guard count > 0 else {
            guard count < 0, errno == EAGAIN || errno == EINTR else { fail(loss()) }
            return
        }
        length += count
        let dealtWith = body(Received(base: buffer, count: length))
        length -= dealtWith
        if length > 0, dealtWith > 0 { memmove(buffer, buffer + dealtWith, length) }
    }

    private func grow() {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 16)
        larger.copyMemory(from: buffer, byteCount: length)
        buffer.deallocate()
        (buffer, capacity) = (larger, capacity * 2)
    }

    /// Receives until a text has arrived, and consumes the bytes up to its end.
    func await(_ text: String) {
        let marker = Array(text.utf8)
        var isThere = false
        while !isThere {
            wait(for: POLLIN)
            receive { bytes in
                bytes.forEach(marker: marker) {
                    isThere = true
                    return $0
                }
            }
        }
    }
}

/// Many lanes in one epoll set.
struct LaneSet {
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))

    init(_ lanes: [Lane]) {
        for (index, lane) in lanes.enumerated() {
            linux_epoll_control(epoll, EPOLL_CTL_ADD, lane.descriptor, UInt32(LINUX_READABLE), UInt64(index))
        }
    }

    /// The lanes with input; waits until there is one.
    mutating func wait(_ body: (Int) -> Void) {
        let count = ready.withUnsafeMutableBufferPointer { linux_epoll_wait(epoll, $0.baseAddress, -1) }
        for index in 0..<max(0, Int(count)) { body(Int(ready[index].token)) }
    }
}
