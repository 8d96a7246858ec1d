import Glibc

/// Nanoseconds of a clock.
func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Sleeps until an instant of a clock, in nanoseconds.
func sleep(until instant: Int, of clock: clockid_t = CLOCK_MONOTONIC) {
    var time = timespec(tv_sec: instant / 1_000_000_000, tv_nsec: instant % 1_000_000_000)
    while clock_nanosleep(clock, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
}

/// The measured values, printed to standard output.
struct Figures {
    private var members: [String] = []
    private let server: Int
    private let begun = nanoseconds()
    private let ownBegun = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    private let serverBegun: ProcessorTime?

    /// Begins to measure.
    init(_ options: LoadOptions) {
        server = options.number("pid", 0)
        serverBegun = server > 0 ? ProcessorTime(of: server) : nil
    }

    mutating func set(_ name: String, _ value: Double) { members.append("\"\(name)\": \(value)") }
    mutating func set(_ name: String, _ value: Int) { members.append("\"\(name)\": \(value)") }

    /// The seconds since then, and the processor time that the server and this program took.
    mutating func stop() -> Double {
        let seconds = Double(nanoseconds() - begun) / 1e9
        set("seconds", seconds)
        set("loadShare", Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - ownBegun) / 1e9 / seconds)
        if let serverBegun {
            let now = ProcessorTime(of: server)
            set("serverUser", now.user - serverBegun.user)
            set("serverSystem", now.system - serverBegun.system)
        }
        return seconds
    }

    /// Notes the quantiles of times in nanoseconds, as microseconds.
    mutating func set(_ name: String, times nanoseconds: [Int]) {
        let sorted = nanoseconds.sorted()
        guard let last = sorted.last else { fail("nothing was measured") }
        for (label, share) in [("p50", 0.5), ("p99", 0.99), ("p9999", 0.9999)] {
            set("\(name)_\(label)", Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000)
        }
        set("\(name)_max", Double(last) / 1000)
    }

    func write() { print("{\(members.joined(separator: ", "))}") }
}

/// The processor time of a process, in seconds.
struct ProcessorTime {
    let user: Double
    let system: Double

    init(of process: Int) {
        let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let text = String(decoding: buffer[..<max(0, read(file, &buffer, buffer.count))], as: UTF8.self)
        close(file)
        // The name before these fields may have spaces and parentheses.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            fail("--pid \(process): there is no such process")
        }
        let second = Double(sysconf(Int32(_SC_CLK_TCK)))
        (self.user, self.system) = (user / second, system / second)
    }
}
