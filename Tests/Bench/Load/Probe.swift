import Glibc

/// One call at a time, at a fixed interval, under another load.
///
/// If an answer takes longer than the interval, the calls that were due meanwhile count too, each with its part of the
/// wait: a server that hangs gets no credit for fewer calls.
struct Probe {
    private let options: LoadOptions
    private let lane: Lane
    private let interval: Int
    private let seconds: Int
    private let other: pid_t
    private var caller: Caller
    private var answers: [Int] = []
    /// How late the kernel woke this program, which is not part of the answer.
    private var wakings: [Int] = []

    init(_ options: LoadOptions) {
        self.options = options
        lane = Lane(to: options.text("socket"))
        interval = options.number("every", 200, atLeast: 1) * 1000
        seconds = options.number("seconds", 600, atLeast: 1)
        other = pid_t(options.number("while", 0))
        caller = Caller(options)
    }

    mutating func run() {
        lane.block()
        var figures = Figures(options)
        let first = nanoseconds()
        var (now, asked) = (first, 0)
        while now < first + seconds * 1_000_000_000, other == 0 || kill(other, 0) == 0 {
            let due = first + ((now - first) / interval + 1) * interval
            sleep(until: due)
            wakings.append(nanoseconds() - due)
            now = ask(asked)
            asked += 1
        }
        _ = figures.stop()
        figures.set("calls", asked)
        figures.set("answer", times: answers)
        figures.set("waking", times: wakings)
        figures.write()
    }

    /// The instant of the answer.
    private mutating func ask(_ number: Int) -> Int {
        let begun = nanoseconds()
        caller.send(number..<number + 1, on: lane)
        while caller.takeReplies(of: lane) == 0 {}
        let now = nanoseconds()
        answers.append(contentsOf: stride(from: now - begun, to: 0, by: -interval))
        return now
    }
}
