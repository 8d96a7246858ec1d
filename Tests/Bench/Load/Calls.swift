import Glibc

/// Calls in a closed loop: each connection sends a batch, and the next one when all of it is answered.
struct Calls {
    private let options: LoadOptions
    private let lanes: [Lane]
    private let depth: Int
    private let count: Int
    private var caller: Caller
    private var sent = 0
    private var answered = 0
    private var times: [Int] = []

    init(_ options: LoadOptions) {
        self.options = options
        let path = options.text("socket")
        lanes = (0..<options.number("connections", 1, atLeast: 1)).map { _ in Lane(to: path) }
        depth = options.number("depth", 1, atLeast: 1)
        count = options.number("count", 100_000, atLeast: 1)
        caller = Caller(options)
        for preparation in options.calls.compactMap(options.dialect.preparation) {
            lanes[0].send(preparation)
            lanes[0].await("\r\n")
        }
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

    /// A single lane waits in `recv`.
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
