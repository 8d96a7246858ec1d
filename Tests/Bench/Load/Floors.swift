import CLinux
import Glibc

/// The floor of every call: a server that reads and answers each request with the same bytes.
struct Echo {
    private let listener: Int32
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let length: Int
    private let replies: UnsafeMutableRawPointer
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.atOnce, alignment: 16)
    private static let atOnce = 1 << 16
    /// No request is shorter.
    private static let shortest = 16

    init(_ options: LoadOptions) {
        listener = listeningSocket(options)
        let opening = Array(
            options.calls == [.start] ? "{\"parameters\":{\"outcome\":\"started\"".utf8 : "{\"parameters\":{".utf8
        )
        length = options.number("bytes", 250, atLeast: opening.count + 1)
        let reply = opening + repeatElement(UInt8(ascii: "x"), count: length - opening.count - 1) + [0]
        replies = .allocate(byteCount: Self.atOnce / Self.shortest * length, alignment: 16)
        for number in 0..<Self.atOnce / Self.shortest {
            (replies + number * length).copyMemory(from: reply, byteCount: length)
        }
    }

    /// Serves until it is killed.
    func run() {
        linux_epoll_control(epoll, EPOLL_CTL_ADD, listener, UInt32(LINUX_READABLE), 0)
        var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))
        while true {
            let count = ready.withUnsafeMutableBufferPointer { linux_epoll_wait(epoll, $0.baseAddress, -1) }
            for one in ready.prefix(max(0, Int(count))) {
                if one.token == 0 { accept() } else { answer(Int32(one.token)) }
            }
        }
    }

    private func accept() {
        let client = linux_accept(listener)
        linux_epoll_control(epoll, EPOLL_CTL_ADD, client, UInt32(LINUX_READABLE), UInt64(client))
    }

    private func answer(_ client: Int32) {
        let received = recv(client, buffer, Self.atOnce, 0)
        guard received > 0 else {
            close(client)
            return
        }
        let bytes = Received(base: buffer, count: received)
        var (requests, start) = (0, 0)
        while let next = bytes.end(of: 0, from: start) { (requests, start) = (requests + 1, next) }
        guard write(client, replies, requests * length) == requests * length else { fail("a client does not read") }
    }
}

/// The floor of an end: how late a bare timerfd fires.
struct TimerFloor {
    private let options: LoadOptions

    init(_ options: LoadOptions) { self.options = options }

    func run() {
        let timer = timerfd_create(CLOCK_REALTIME, 0)
        var late: [Int] = []
        var figures = Figures(options)
        var due = nanoseconds(CLOCK_REALTIME)
        for _ in 0..<options.number("count", 20_000, atLeast: 1) {
            // The interval of 100,000 ends in 10 s.
            due += 100_000
            var setting = itimerspec()
            setting.it_value = timespec(tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000)
            let absolute: Int32 = 1
            timerfd_settime(timer, absolute, &setting, nil)
            var expirations: UInt64 = 0
            _ = read(timer, &expirations, 8)
            late.append(nanoseconds(CLOCK_REALTIME) - due)
        }
        _ = figures.stop()
        figures.set("late", times: late)
        figures.write()
    }
}

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

/// The floor of storing: rows of the same length appended to a file, each group in one write.
struct AppendFloor {
    private let options: LoadOptions

    init(_ options: LoadOptions) { self.options = options }

    func run() {
        let path = options.text("file")
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { fail("\(path): \(String(cString: strerror(errno)))") }
        let depth = options.number("depth", 1, atLeast: 1)
        let groups = max(1, options.number("count", 1_000_000) / depth)
        let rows = [UInt8](repeating: UInt8(ascii: "r"), count: options.number("bytes", 64, atLeast: 1) * depth)
        var figures = Figures(options)
        for _ in 0..<groups {
            guard write(file, rows, rows.count) == rows.count else {
                fail("\(path): \(String(cString: strerror(errno)))")
            }
        }
        let seconds = figures.stop()
        figures.set("rowsPerSecond", Double(groups * depth) / seconds)
        figures.write()
    }
}
