import CLinux
import Glibc

/// The floor of many ends at one instant: a server that sleeps on a bare timerfd, and then writes all of them in one go.
///
/// It speaks to `Endings` as countdownd does, to one client after the other, until one watches.
struct Burst {
    private let listener: Int32
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
    private var ends: [UInt8] = []
    /// In nanoseconds.
    private var deadline = 0

    init(_ options: LoadOptions) { listener = listeningSocket(options) }

    mutating func run() {
        while true {
            var one = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            poll(&one, 1, -1)
            let client = linux_accept(listener)
            _ = fcntl(client, F_SETFL, fcntl(client, F_GETFL) & ~O_NONBLOCK)
            if serve(client) { writeEnds(to: client) }
            close(client)
        }
    }

    /// Whether the client watches; false when it is gone.
    private mutating func serve(_ client: Int32) -> Bool {
        var length = 0
        while case let count = recv(client, buffer + length, 1 << 20 - length, 0), count > 0 {
            length += count
            var (replies, start) = ("", 0)
            let bytes = Received(base: buffer, count: length)
            while let next = bytes.end(of: 0, from: start) {
                guard note(Received(base: buffer + start, count: next - start)) else {
                    send("{\"parameters\":{\"events\":[{\"type\":\"synced\"}]},\"continues\":true}\0", to: client)
                    return true
                }
                replies += "{\"parameters\":{\"outcome\":\"started\"}}\0"
                start = next
            }
            send(replies, to: client)
            length -= start
            memmove(buffer, buffer + start, length)
        }
        return false
    }

    /// Keeps the end of a countdown if the request is a Start with a deadline.
    private mutating func note(_ request: Received) -> Bool {
        guard let key = request.end(of: Array(LoadRequest.prefix.utf8), from: 0),
            let due = request.end(of: Array("\"deadlineUSec\":".utf8), from: 0)
        else { return false }
        deadline = request.number(at: due, digits: LoadRequest.deadlineDigits) * 1_000_000
        let number = request.number(at: key, digits: LoadRequest.digits)
        // As long as an event of countdownd.
        let rest = String(repeating: "x", count: 250)
        ends += "{\"type\":\"finished\",\"countdown\":{\"key\":\"\(LoadRequest.key(number))\",\"\(rest)\"}}\0".utf8
        return true
    }

    private func writeEnds(to client: Int32) {
        let timer = timerfd_create(CLOCK_REALTIME, 0)
        var setting = itimerspec()
        setting.it_value = timespec(tv_sec: deadline / 1_000_000_000, tv_nsec: deadline % 1_000_000_000)
        let absolute: Int32 = 1
        timerfd_settime(timer, absolute, &setting, nil)
        var expirations: UInt64 = 0
        _ = read(timer, &expirations, 8)
        send(ends, to: client)
        close(timer)
    }

    private func send(_ text: String, to client: Int32) { send(Array(text.utf8), to: client) }

    private func send(_ bytes: [UInt8], to client: Int32) {
        guard write(client, bytes, bytes.count) == bytes.count else { fail("a client does not read") }
    }
}

private func listeningSocket(_ options: LoadOptions) -> Int32 {
    let (listener, path) = (linux_unix_socket(), options.text("socket"))
    guard linux_unix_bind(listener, path) == 0, listen(listener, SOMAXCONN) == 0 else {
        fail("\(path): \(String(cString: strerror(errno)))")
    }
    return listener
}
