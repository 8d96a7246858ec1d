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
    private let serverBegun: Activity?

    /// Begins to measure.
    init(_ options: LoadOptions) {
        server = options.number("pid", 0)
        serverBegun = server > 0 ? Activity(of: server) : nil
    }

    mutating func set(_ name: String, _ value: Double) { members.append("\"\(name)\": \(value)") }
    mutating func set(_ name: String, _ value: Int) { members.append("\"\(name)\": \(value)") }

    /// The seconds since then, with the processor time of the server and of this program and the server's context switches.
    mutating func stop() -> Double {
        let seconds = Double(nanoseconds() - begun) / 1e9
        set("seconds", seconds)
        set("loadShare", Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - ownBegun) / 1e9 / seconds)
        if let serverBegun {
            let now = Activity(of: server)
            set("serverProcessor", now.processor - serverBegun.processor)
            set("serverSwitches", now.switches - serverBegun.switches)
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

/// The processor time and the context switches of a process since its start.
struct Activity {
    /// In seconds.
    let processor: Double
    /// Of the threads that it has now.
    let switches: Int

    init(of process: Int) {
        var clock = clockid_t()
        guard clock_getcpuclockid(pid_t(process), &clock) == 0 else {
            fail("--pid \(process): there is no such process")
        }
        processor = Double(nanoseconds(clock)) / 1e9
        switches = Self.threads(of: process).reduce(0) { sum, thread in
            text(of: "/proc/\(process)/task/\(thread)/status").split(separator: "\n")
                .filter { $0.contains("ctxt_switches") }
                .reduce(sum) { $0 + (Int($1.drop { !$0.isNumber }) ?? 0) }
        }
    }

    private static func threads(of process: Int) -> [Int] {
        guard let folder = opendir("/proc/\(process)/task") else { return [] }
        defer { closedir(folder) }
        var threads: [Int] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { $0.prefix { $0 != 0 } }
            if let thread = Int(String(decoding: name, as: UTF8.self)) { threads.append(thread) }
        }
        return threads
    }
}

/// The text of a small file; empty if it cannot be read.
private func text(of path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    return String(decoding: buffer[..<max(0, read(file, &buffer, buffer.count))], as: UTF8.self)
}
