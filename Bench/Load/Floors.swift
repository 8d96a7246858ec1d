import CLinux
import Glibc

/// The floor of every call: a server that reads what is there, and answers each request with the same bytes.
struct Echo {
    private let options: Options

    init(_ options: Options) { self.options = options }

    /// Serves until it is ended.
    func run() {
        let listener = linux_unix_socket()
        let path = options.text("socket")
        guard linux_unix_bind(listener, path) == 0, listen(listener, SOMAXCONN) == 0 else { fail("bind \(path)") }
        let reply = [UInt8](repeating: UInt8(ascii: "x"), count: options.number("bytes", 250) - 4) + [0]
        let epoll = linux_epoll_create()
        linux_epoll_control(epoll, EPOLL_CTL_ADD, listener, UInt32(LINUX_READABLE), 0)
        var ready = [linux_ready](repeating: linux_ready(), count: Int(LINUX_READY_AT_ONCE))
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var replies: [UInt8] = []
        while true {
            let count = ready.withUnsafeMutableBufferPointer { linux_epoll_wait(epoll, $0.baseAddress, -1) }
            for one in ready.prefix(max(0, Int(count))) {
                guard one.token > 0 else {
                    let client = linux_accept(listener)
                    linux_epoll_control(epoll, EPOLL_CTL_ADD, client, UInt32(LINUX_READABLE), UInt64(client))
                    continue
                }
                let received = recv(Int32(one.token), &buffer, buffer.count, 0)
                guard received > 0 else {
                    close(Int32(one.token))
                    continue
                }
                replies.removeAll(keepingCapacity: true)
                for byte in buffer[..<received] where byte == 0 { replies += Array("{\"p".utf8) + reply }
                _ = write(Int32(one.token), replies, replies.count)
            }
        }
    }
}

/// The floor of an ending: how late a bare timerfd tells an instant.
struct TimerFloor {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() {
        let timer = linux_clock_watch_create()
        _ = fcntl(timer, F_SETFL, 0)
        var late: [Int32] = []
        var due = nanoseconds(CLOCK_REALTIME)
        for _ in 0..<options.number("count", 20_000) {
            due += 100_000
            var setting = itimerspec()
            setting.it_value = timespec(tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000)
            timerfd_settime(timer, 1, &setting, nil)
            var expirations: UInt64 = 0
            _ = read(timer, &expirations, 8)
            late.append(Int32(clamping: nanoseconds(CLOCK_REALTIME) - due))
        }
        var figures = Figures(options)
        _ = figures.stop()
        figures.set("late", times: late)
        figures.write()
    }
}

/// The floor of storing: rows of the same length appended to a file, each group in one write.
struct AppendFloor {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() {
        let file = open(options.text("file"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { fail("open \(options.text("file"))") }
        let (group, count) = (options.number("depth", 1), options.number("count", 1_000_000))
        let rows = [UInt8](repeating: UInt8(ascii: "r"), count: options.number("bytes", 64) * group)
        var figures = Figures(options)
        for _ in 0..<count / group {
            guard write(file, rows, rows.count) == rows.count else { fail("write") }
        }
        let seconds = figures.stop()
        figures.set("rowsPerSecond", Double(count) / seconds)
        figures.write()
    }
}
