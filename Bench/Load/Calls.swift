import Glibc

/// Calls in a closed loop: each connection sends a batch, and the next one once all of it is answered.
struct Calls {
    private let options: Options
    private let lanes: [Lane]
    private let depth: Int
    private let count: Int
    private var caller: Caller
    private var sent = 0
    private var answered = 0
    private var times: [Int] = []

    init(_ options: Options) {
        self.options = options
        let path = options.text("socket")
        lanes = (0..<options.number("connections", 1, atLeast: 1)).map { _ in Lane(to: path) }
        depth = options.number("depth", 1, atLeast: 1)
        count = options.number("count", 100_000, atLeast: 1)
        caller = Caller(options)
        times.reserveCapacity(count)
    }

    mutating func run() {
        var figures = Figures(options)
        if lanes.count == 1 { runAlone() } else { runAll() }
        let seconds = figures.stop()
        figures.set("calls", answered)
        figures.set("callsPerSecond", Double(answered) / seconds)
        figures.set("answer", times: times)
        figures.write()
    }

    /// One lane waits in `recv` itself.
    private mutating func runAlone() {
        lanes[0].block()
        while sent < count {
            let begun = nanoseconds()
            var left = sendBatch(on: lanes[0])
            while left > 0 { left -= takeReplies(of: lanes[0]) }
            times.append(nanoseconds() - begun)
        }
    }

    private mutating func runAll() {
        var set = LaneSet(lanes)
        var left = lanes.map { _ in 0 }
        var begun = lanes.map { _ in 0 }
        for index in lanes.indices {
            begun[index] = nanoseconds()
            left[index] = sendBatch(on: lanes[index])
        }
        while answered < sent {
            set.wait { index in
                left[index] -= takeReplies(of: lanes[index])
                guard left[index] == 0 else { return }
                let now = nanoseconds()
                times.append(now - begun[index])
                begun[index] = now
                left[index] = sendBatch(on: lanes[index])
            }
        }
    }

    private mutating func sendBatch(on lane: Lane) -> Int {
        let size = min(depth, count - sent)
        guard size > 0 else { return 0 }
        caller.send(sent..<sent + size, on: lane)
        sent += size
        return size
    }

    private mutating func takeReplies(of lane: Lane) -> Int {
        let taken = caller.takeReplies(of: lane)
        answered += taken
        return taken
    }
}

/// One call after the other, each at its time, while something else goes on.
///
/// A call counts from when it is sent or, where the answer before it came too late, from when it was to be sent: a server
/// that stands still is not asked less.
struct Probe {
    private let options: Options
    private let lane: Lane
    private let nanosecondsBetween: Int
    private let seconds: Int
    private let other: pid_t
    private var caller: Caller

    init(_ options: Options) {
        self.options = options
        lane = Lane(to: options.text("socket"))
        nanosecondsBetween = options.number("every", 200, atLeast: 1) * 1000
        seconds = options.number("seconds", 600, atLeast: 1)
        other = pid_t(options.number("while", 0))
        caller = Caller(options)
    }

    mutating func run() {
        lane.block()
        var figures = Figures(options)
        var (answers, wakings) = ([Int](), [Int]())
        var due = nanoseconds()
        let end = due + seconds * 1_000_000_000
        while due < end, other == 0 || kill(other, 0) == 0 {
            due += nanosecondsBetween
            var begun = due
            if nanoseconds() < due {
                sleep(until: due)
                begun = nanoseconds()
                wakings.append(begun - due)
            }
            caller.send(answers.count..<answers.count + 1, on: lane)
            while caller.takeReplies(of: lane) == 0 {}
            answers.append(nanoseconds() - begun)
        }
        _ = figures.stop()
        figures.set("calls", answers.count)
        figures.set("answer", times: answers)
        figures.set("waking", times: wakings)
        figures.write()
    }
}
