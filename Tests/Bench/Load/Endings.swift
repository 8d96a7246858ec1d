import Glibc

/// Countdowns with known deadlines, and how late their ends reach one watcher.
struct Endings {
    private let options: LoadOptions
    private let dialect: any Dialect
    private let count: Int
    /// The number of the first key.
    private let firstKey: Int
    /// The range of all deadlines, in milliseconds.
    private let spread: Int
    /// The first deadline, in milliseconds of the Unix epoch.
    private let first: Int
    /// How long to wait for ends after the last deadline, in milliseconds.
    private let patience: Int

    init(_ options: LoadOptions) {
        self.options = options
        dialect = options.dialect
        count = options.number("count", 100_000, atLeast: 1)
        firstKey = options.number("first", 0)
        spread = options.number("spread", 10_000)
        patience = options.number("patience", 60_000, atLeast: 1)
        first = Self.now + options.number("lead", 5000)
    }

    private static var now: Int { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    /// In whole milliseconds, because Redis has no finer ones; not in the order of the keys.
    private func deadline(_ number: Int) -> Int {
        let scattered = number &* 7_919 % count
        return first + scattered * spread / count
    }

    func run() {
        start()
        // The watch begins here, so that it gets no starts.
        let watcher = Lane(to: options.text("socket"), capacity: 1 << 20)
        watcher.send(dialect.watchEndings)
        watcher.await(dialect.watching)
        guard Self.now < first else { fail("starting \(count) took longer than --lead: this machine is busy") }
        // Only the ends are measured, and not the wait before them.
        sleep(until: first * 1_000_000 - 50_000_000, of: CLOCK_REALTIME)
        var figures = Figures(options)
        let late = listen(to: watcher)
        // The kernel counts the processor time of a thread when it sleeps, or at a tick.
        usleep(20_000)
        _ = figures.stop()
        figures.set("told", late.count)
        if !late.isEmpty { figures.set("toldLate", times: late) }
        // An end that has not arrived by then counts as late by the whole patience.
        figures.set("late", times: late + repeatElement(patience * 1_000_000, count: count - late.count))
        figures.write()
    }

    private func start() {
        let lane = Lane(to: options.text("socket"))
        let dialect = dialect
        let request = LoadRequest { key, deadline in dialect.start(key, at: deadline) }
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
                left -= lane.takeReplies(to: [.start], in: dialect)
            }
        }
    }

    /// How late each end arrived, in nanoseconds, of those that arrived in time.
    private func listen(to watcher: Lane) -> [Int] {
        let (marker, prefix) = (Array(dialect.endingMarker.utf8), Array(LoadRequest.prefix.utf8))
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
                    guard let key = bytes.end(of: prefix, from: place), key + LoadRequest.digits <= bytes.count else {
                        return nil
                    }
                    let number = bytes.number(at: key, digits: LoadRequest.digits) - firstKey
                    // Other countdowns may end meanwhile.
                    if (0..<count).contains(number) { late.append(now - deadline(number) * 1_000_000) }
                    return key + LoadRequest.digits
                }
            }
        }
        return late
    }
}
