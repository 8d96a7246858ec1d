import Glibc

/// One client that changes one key at full speed, and many watchers of it.
struct Fanout {
    private let options: LoadOptions
    private let dialect: any Dialect
    private let watchers: [Lane]
    private let depth: Int
    private let count: Int
    private let key: String

    init(_ options: LoadOptions) {
        self.options = options
        dialect = options.dialect
        key = LoadRequest.key(options.number("first", 0))
        let path = options.text("socket")
        watchers = (0..<options.number("watchers", 500, atLeast: 1)).map { _ in Lane(to: path) }
        depth = options.number("depth", 32, atLeast: 1)
        // Whole batches.
        count = (options.number("count", 2_000, atLeast: 1) + depth - 1) / depth * depth
    }

    func run() {
        let publisher = Lane(to: options.text("socket"))
        publisher.send(dialect.request(.start, key))
        while publisher.takeReplies(to: [.start], in: dialect) == 0 { publisher.wait(for: POLLIN) }
        for watcher in watchers {
            watcher.send(dialect.watch(key))
            watcher.await(dialect.watching(key))
        }
        var figures = Figures(options)
        publish(on: publisher)
        let seconds = figures.stop()
        figures.set("deliveries", count * watchers.count)
        figures.set("deliveriesPerSecond", Double(count * watchers.count) / seconds)
        figures.write()
    }

    /// Two batches are under way, so that the server is never idle. The next one is sent when the first of them is
    /// answered and every watcher has it.
    private func publish(on publisher: Lane) {
        let marker = Array(dialect.changeMarker.utf8)
        let batch = Array(repeatElement(dialect.request(.change, key), count: depth).joined().utf8)
        var set = LaneSet(watchers + [publisher])
        var (sent, answered, delivered) = (0, 0, 0)
        while delivered < count * watchers.count || answered < count {
            while sent < count, answered >= sent - depth, delivered >= (sent - depth) * watchers.count {
                publisher.send(batch)
                sent += depth
            }
            set.wait { index in
                guard index < watchers.count else {
                    answered += publisher.takeReplies(to: [.change], in: dialect)
                    return
                }
                watchers[index].receive { bytes in
                    bytes.forEach(marker: marker) {
                        delivered += 1
                        return $0
                    }
                }
            }
        }
    }
}
