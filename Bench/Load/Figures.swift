import Glibc

/// Nanoseconds of a clock.
func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What was measured, on its way to the standard output.
struct Figures {
    private var members: [String] = []
    private let server: Int
    private let begun = nanoseconds()
    private let ownBegun = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    private let serverBegun: Double

    /// Begins to measure.
    init(_ options: Options) {
        server = options.number("pid", 0)
        serverBegun = Self.processorSeconds(of: server)
    }

    mutating func set(_ name: String, _ value: Double) { members.append("\"\(name)\": \(value)") }
    mutating func set(_ name: String, _ value: Int) { members.append("\"\(name)\": \(value)") }

    /// The seconds until now, and the processor time that the server and this program took meanwhile.
    mutating func stop() -> Double {
        let seconds = Double(nanoseconds() - begun) / 1e9
        set("seconds", seconds)
        set("loadShare", Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - ownBegun) / 1e9 / seconds)
        if server > 0 { set("serverSeconds", Self.processorSeconds(of: server) - serverBegun) }
        return seconds
    }

    /// Notes the quantiles of a time in microseconds.
    mutating func set(_ name: String, times nanoseconds: [Int32]) {
        let sorted = nanoseconds.sorted()
        guard let last = sorted.last else { fail("nothing was measured") }
        for (label, share) in [("p50", 0.5), ("p99", 0.99), ("p9999", 0.9999)] {
            set("\(name)_\(label)", Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000)
        }
        set("\(name)_max", Double(last) / 1000)
    }

    func write() { print("{\(members.joined(separator: ", "))}") }

    private static func processorSeconds(of process: Int) -> Double {
        guard process > 0 else { return 0 }
        let file = open("/proc/\(process)/stat", O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let text = String(decoding: buffer[..<max(0, read(file, &buffer, buffer.count))], as: UTF8.self)
        let fields = text[text.lastIndex(of: ")")!...].split(separator: " ")
        return Double(Int(fields[12])! + Int(fields[13])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
