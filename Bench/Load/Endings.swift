import Glibc

/// Countdowns whose deadlines are known here, and how late their endings are told to one watcher.
struct Endings {
    private let options: Options
    private let dialect: any Dialect
    private let count: Int
    /// The number of the first key.
    private let firstKey: Int
    /// Milliseconds in which all deadlines lie.
    private let spread: Int
    /// The first deadline, in milliseconds of the Unix epoch.
    private let first: Int
    /// Milliseconds after the last deadline in which an ending is waited for.
    private let patience: Int

    init(_ options: Options) {
        self.options = options
        dialect = options.dialect
        count = options.number("count", 100_000, atLeast: 1)
        firstKey = options.number("first", 0)
        spread = options.number("spread", 10_000)
        patience = options.number("patience", 60_000, atLeast: 1)
        first = Self.now + options.number("lead", 5000)
    }

    private static var now: Int { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    /// In whole milliseconds, which is what Redis has; not in the order of the keys.
    private func deadline(_ number: Int) -> Int {
        let scattered = number &* 7_919 % count
        return first + scattered * spread / count
    }

    func run() {
        start()
        // Watched from here on, so that the beginnings are not told.
        let watcher = Lane(to: options.text("socket"), capacity: 1 << 20)
        watcher.send(dialect.watchEndings)
        watcher.await(dialect.watching)
        guard Self.now < first else { fail("starting \(count) took longer than --lead: this machine is busy") }
        // What ends is measured, not how it was waited for.
        sleep(until: first * 1_000_000 - 50_000_000, of: CLOCK_REALTIME)
        var figures = Figures(options)
        let late = listen(to: watcher)
        _ = figures.stop()
        figures.set("told", late.count)
        // Who was not told by then is late by the patience at least.
        figures.set("late", times: late + repeatElement(patience * 1_000_000, count: count - late.count))
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
            for number in begin..<end {
                request.append(to: &bytes, key: firstKey + number, deadline: deadline(number))
            }
            lane.send(bytes)
            var left = end - begin
            while left > 0 {
                lane.wait(for: POLLIN)
                left -= lane.takeReplies(to: .start, in: dialect)
            }
        }
    }

    /// How late each ending came, in nanoseconds; of those that came in time.
    private func listen(to watcher: Lane) -> [Int] {
        let (marker, prefix) = (Array(dialect.endingMarker.utf8), Array(Request.prefix.utf8))
        var late: [Int] = []
        late.reserveCapacity(count)
        watcher.loss = {
            """
            the server has disconnected the watcher after \(late.count) of \(count) endings: it keeps no more than so much \
            for who does not read, and this program was too slow. Is the machine busy?
            """
        }
        let end = first + spread + patience
        while late.count < count, Self.now < end {
            watcher.wait(for: POLLIN, milliseconds: end - Self.now)
            watcher.receive { bytes in
                let now = nanoseconds(CLOCK_REALTIME)
                return bytes.forEach(marker: marker) { place in
                    guard let key = bytes.end(of: prefix, from: place), key + Request.digits <= bytes.count else {
                        return nil
                    }
                    let number = bytes.number(at: key, digits: Request.digits) - firstKey
                    // Others may end meanwhile.
                    if (0..<count).contains(number) { late.append(now - deadline(number) * 1_000_000) }
                    return key + Request.digits
                }
            }
        }
        return late
    }
}
