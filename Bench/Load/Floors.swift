import CLinux
import Glibc

/// The floor of every call: a server that reads and answers each request with the same bytes.
struct Echo {
    private let listener = linux_unix_socket()
    private let epoll = linux_epoll_create()
    private let length: Int
    private let replies: UnsafeMutableRawPointer
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.atOnce, alignment: 16)
    private static let atOnce = 1 << 16
    /// No request is shorter.
    private static let shortest = 16

    init(_ options: LoadOptions) {
        let path = options.text("socket")
        guard linux_unix_bind(listener, path) == 0, listen(listener, SOMAXCONN) == 0 else {
            fail("\(path): \(String(cString: strerror(errno)))")
        }
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
