import Glibc

/// One watcher that gets the remaining time of each countdown once a second.
struct Ticks {
    private let options: LoadOptions

    init(_ options: LoadOptions) { self.options = options }

    func run() {
        let watcher = Lane(to: options.text("socket"), capacity: 1 << 20)
        watcher.send(CountdowndDialect.watchTicks)
        watcher.await(CountdowndDialect().watching)
        var figures = Figures(options)
        let end = nanoseconds() + options.number("seconds", 10, atLeast: 1) * 1_000_000_000
        let marker = Array("\"type\":\"tick\"".utf8)
        var ticks = 0
        while nanoseconds() < end {
            watcher.wait(for: POLLIN, milliseconds: 1000)
            watcher.receive { bytes in
                bytes.forEach(marker: marker) {
                    ticks += 1
                    return $0
                }
            }
        }
        let seconds = figures.stop()
        figures.set("ticks", ticks)
        figures.set("ticksPerSecond", Double(ticks) / seconds)
        figures.write()
    }
}
