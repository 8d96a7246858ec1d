import Glibc

/// Countdowns whose deadlines are known here, and how late their endings are told to one watcher.
struct Endings {
    private let options: Options
    private let dialect: any Dialect
    private let count: Int
    /// Microseconds in which all deadlines lie.
    private let spread: Int
    /// The first deadline, in milliseconds of the Unix epoch.
    private let first: Int

    init(_ options: Options) {
        self.options = options
        dialect = options.dialect
        count = options.number("count", 100_000)
        spread = options.number("spread", 10_000_000)
        first = nanoseconds(CLOCK_REALTIME) / 1_000_000 + options.number("lead", 5000)
    }

    /// In whole milliseconds, which is what Redis has; not in the order of the keys.
    private func deadline(_ key: Int) -> Int {
        let scattered = key &* 7_919 % count
        return first + scattered * (spread / 1000) / count
    }

    func run() {
        let watcher = Lane(to: options.text("socket"), capacity: 1 << 20)
        watcher.send(dialect.watchEndings)
        watcher.awaitReply(end: dialect.end)
        start()
        guard nanoseconds(CLOCK_REALTIME) / 1_000_000 < first else { fail("starting took longer than --lead") }
        var figures = Figures(options)
        let late = listen(to: watcher)
        _ = figures.stop()
        figures.set("late", times: late)
        figures.write()
    }

    private func start() {
        let lane = Lane(to: options.text("socket"))
        let dialect = dialect
        let request = Request { key, deadline in dialect.start(key, at: deadline) }
        let batch = 500
        for begin in stride(from: 0, to: count, by: batch) {
            var bytes: [UInt8] = []
            let end = min(begin + batch, count)
            for key in begin..<end { request.append(to: &bytes, key: key, deadline: deadline(key)) }
            lane.send(bytes)
            var left = end - begin
            while left > 0 {
                lane.wait(for: POLLIN)
                lane.receive { bytes in
                    let taken = dialect.countReplies(in: bytes)
                    left -= taken.count
                    return taken.bytes
                }
            }
        }
    }

    /// How late each ending came, in nanoseconds.
    private func listen(to watcher: Lane) -> [Int32] {
        let (marker, prefix) = (Array(dialect.endingMarker.utf8), Array(Request.prefix.utf8))
        var late: [Int32] = []
        late.reserveCapacity(count)
        while late.count < count {
            watcher.wait(for: POLLIN)
            let patience = 60_000_000_000
            watcher.receive { bytes in
                let now = nanoseconds(CLOCK_REALTIME)
                guard now / 1_000_000 - first < (spread + patience / 1000) / 1000 else {
                    fail("only \(late.count) of \(count) endings were told")
                }
                return bytes.forEach(marker: marker) { place in
                    guard let key = bytes.end(of: prefix, from: place), key + Request.digits <= bytes.count else {
                        return nil
                    }
                    late.append(
                        Int32(clamping: now - deadline(bytes.number(at: key, digits: Request.digits)) * 1_000_000)
                    )
                    return key + Request.digits
                }
            }
        }
        return late
    }
}
