import Glibc

/// One client that changes one key at full speed, and many that are told of it.
struct Fanout {
    private let options: Options
    private let dialect: any Dialect
    private let watchers: [Lane]
    private let depth: Int
    private let count: Int
    private let key = Request.key(0)

    init(_ options: Options) {
        self.options = options
        dialect = options.dialect
        let path = options.text("socket")
        watchers = (0..<options.number("watchers", 500)).map { _ in Lane(to: path) }
        depth = options.number("depth", 32)
        count = options.number("count", 2_000)
    }

    func run() {
        let publisher = Lane(to: options.text("socket"))
        if dialect is CountdowndDialect {
            publisher.send(dialect.start(key))
            publisher.awaitReply(end: dialect.end)
        }
        for watcher in watchers {
            watcher.send(dialect.watch(key))
            watcher.awaitReply(end: dialect.end)
        }
        var figures = Figures(options)
        publish(on: publisher)
        let seconds = figures.stop()
        figures.set("deliveries", count * watchers.count)
        figures.set("deliveriesPerSecond", Double(count * watchers.count) / seconds)
        figures.write()
    }

    /// The next batch is sent once everybody has the one before the last: so no server has to keep much, or little.
    private func publish(on publisher: Lane) {
        let marker = Array(dialect.changeMarker.utf8)
        let batch = Array(repeatElement(dialect.change(key), count: depth).joined().utf8)
        var set = LaneSet(watchers + [publisher])
        var (sent, answered, delivered) = (0, 0, 0)
        while delivered < count * watchers.count {
            while sent < count, sent - answered < depth, sent * watchers.count - delivered <= 2 * depth * watchers.count
            {
                publisher.send(batch)
                sent += depth
            }
            set.wait { index in
                if index == watchers.count {
                    publisher.receive { bytes in
                        let taken = dialect.countReplies(in: bytes)
                        answered += taken.count
                        return taken.bytes
                    }
                } else {
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
}
