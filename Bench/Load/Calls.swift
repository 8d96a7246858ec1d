import Glibc

/// Calls in a closed loop: each connection sends a batch, and the next one once all of it is answered.
struct Calls {
    private let options: Options
    private let dialect: any Dialect
    private let request: Request
    private let lanes: [Lane]
    private let depth: Int
    private let count: Int
    private let keys: Int
    private let isStart: Bool

    init(_ options: Options) {
        self.options = options
        let dialect = options.dialect
        self.dialect = dialect
        isStart = options.text("call") == "start"
        request =
            options.text("call") == "start"
            ? Request { key, _ in dialect.start(key) } : Request { key, _ in dialect.get(key) }
        let path = options.text("socket")
        lanes = (0..<options.number("connections", 1)).map { _ in Lane(to: path) }
        depth = options.number("depth", 1)
        count = options.number("count", 100_000)
        keys = options.number("keys", 100_000)
    }

    /// The key of the nth call: one after the other where they are started, scattered where they are asked for.
    private func key(_ number: Int) -> Int {
        let first = options.number("first", 0)
        guard !isStart else { return first + number }
        let scattered = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 >> 20
        return first + Int(truncatingIfNeeded: scattered % UInt64(keys))
    }

    func run() {
        var measuring = Measuring(count: count)
        var figures = Figures(options)
        if lanes.count == 1 { runAlone(&measuring) } else { runAll(&measuring) }
        let seconds = figures.stop()
        figures.set("calls", measuring.answered)
        figures.set("callsPerSecond", Double(measuring.answered) / seconds)
        figures.set("answer", times: measuring.times)
        figures.write()
    }

    private struct Measuring {
        var sent = 0
        var answered = 0
        var times: [Int32] = []
        var batch: [UInt8] = []

        init(count: Int) { times.reserveCapacity(count) }
    }

    /// One lane waits in `recv` itself.
    private func runAlone(_ measuring: inout Measuring) {
        let lane = lanes[0]
        lane.block()
        let pause = options.number("every", 0) * 1000
        var due = nanoseconds()
        while measuring.sent < count {
            if pause > 0 {
                // From when it was to be sent: a server that stands still is not asked less.
                due += pause
                sleep(until: due)
            } else {
                due = nanoseconds()
            }
            var left = sendBatch(on: lane, &measuring)
            while left > 0 { left -= takeReplies(of: lane, &measuring) }
            measuring.times.append(Int32(clamping: nanoseconds() - due))
        }
    }

    private func runAll(_ measuring: inout Measuring) {
        var set = LaneSet(lanes)
        var left = lanes.map { _ in 0 }
        var begun = lanes.map { _ in 0 }
        for index in lanes.indices {
            begun[index] = nanoseconds()
            left[index] = sendBatch(on: lanes[index], &measuring)
        }
        while measuring.answered < measuring.sent {
            set.wait { index in
                left[index] -= takeReplies(of: lanes[index], &measuring)
                guard left[index] == 0 else { return }
                let now = nanoseconds()
                measuring.times.append(Int32(clamping: now - begun[index]))
                begun[index] = now
                left[index] = sendBatch(on: lanes[index], &measuring)
            }
        }
    }

    private func sendBatch(on lane: Lane, _ measuring: inout Measuring) -> Int {
        let size = min(depth, count - measuring.sent)
        guard size > 0 else { return 0 }
        measuring.batch.removeAll(keepingCapacity: true)
        for number in measuring.sent..<measuring.sent + size { request.append(to: &measuring.batch, key: key(number)) }
        measuring.sent += size
        lane.send(measuring.batch)
        return size
    }

    private func takeReplies(of lane: Lane, _ measuring: inout Measuring) -> Int {
        var count = 0
        lane.receive { bytes in
            let taken = dialect.countReplies(in: bytes)
            count = taken.count
            return taken.bytes
        }
        measuring.answered += count
        return count
    }

    private func sleep(until instant: Int) {
        var time = timespec(tv_sec: instant / 1_000_000_000, tv_nsec: instant % 1_000_000_000)
        clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil)
    }
}

extension Dialect {
    /// How many whole replies there are, and in how many bytes; a refusal ends the program.
    func countReplies(in bytes: UnsafeRawBufferPointer) -> (count: Int, bytes: Int) {
        var (count, start) = (0, 0)
        let base = bytes.baseAddress!
        while start < bytes.count, let found = memchr(base + start, Int32(end), bytes.count - start) {
            let next = UnsafeRawPointer(found) - base + 1
            check(UnsafeRawBufferPointer(rebasing: bytes[start..<next]))
            count += 1
            start = next
        }
        return (count, start)
    }

    private func check(_ reply: UnsafeRawBufferPointer) {
        let isRefusal =
            welcome.isEmpty
            ? reply[0] == UInt8(ascii: "-") || reply[0] == UInt8(ascii: "$")
            : !reply.starts(with: welcome)
        if isRefusal { fail("refused: \(String(decoding: reply, as: UTF8.self))") }
    }
}
