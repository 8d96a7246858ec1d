import CountdownCore

/// Events in a row that the same watchers hear: they are put together once, and each watcher is told all of them at once.
struct Round {
    var hearers: [WatcherID] = []
    /// The events, with commas between them.
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ event: [UInt8]) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: event)
        count += 1
    }

    mutating func removeEvents() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }
}
