import CountdownCore
import Varlink

/// Events in a row that the same watchers hear: they are put together once, and each watcher is told all of them at once.
struct Round {
    var hearers: [WatcherID] = []
    /// The events, with commas between them.
    private(set) var events = JSONWriter()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// How many bytes the events take.
    var bytes: Int { events.count }

    /// Puts in the event that the closure writes, an object.
    @inline(__always)
    mutating func append(_ write: (inout JSONWriter) -> Void) {
        write(&events)
        count += 1
    }

    mutating func removeEvents() {
        events.removeAll()
        count = 0
    }
}
