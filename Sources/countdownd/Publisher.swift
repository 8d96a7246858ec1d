import CountdownCore
import Varlink

/// Consecutive events for the same watchers. They are encoded once.
struct EventBatch: ~Copyable {
    var subscribers: [WatcherID] = []
    /// The events, with commas between them.
    private(set) var events = JSONWriter()
    private(set) var count = 0

    /// Appends the event that the closure writes, an object.
    @inline(__always)
    mutating func append(_ write: (inout JSONWriter) -> Void) {
        write(&events)
        count += 1
    }

    /// Hands the events to each subscriber, and removes them.
    mutating func deliver(_ deliver: (WatcherID, borrowing EventBatch) -> Void) {
        guard count > 0 else { return }
        for id in subscribers { deliver(id, self) }
        removeEvents()
    }

    mutating func removeEvents() {
        events.removeAll()
        count = 0
    }
}

/// When heartbeats are due for watchers that get no other event, by the tokens of their connections.
///
/// An instant is the earliest possible one. An event that is delivered before then is taken into account when the instant has
/// come, so that delivering events costs nothing here.
typealias Heartbeats = Agenda<BootLine, UInt64>

extension Heartbeats {
    /// When to look at a watcher again: an interval after its last event, or, if that has passed because its client
    /// does not read, an interval from now.
    static func next(after lastDelivery: BootInstant, every interval: Duration, at now: BootInstant) -> BootInstant {
        lastDelivery + interval > now ? lastDelivery + interval : now + interval
    }
}

/// Delivers changes to the clients that asked for it: to watchers, and to those that wait for the end of a countdown.
///
/// It encodes each event once for all watchers of its key, and calls back for each connection.
struct Publisher: ~Copyable {
    var watchers: Watchers
    /// When watchers that asked for heartbeats are due to get one.
    var heartbeats = Heartbeats()
    /// The connections that wait for the end of the countdown under a key.
    private var waiting: [Key: [Connection]] = [:]
    /// Kept for its memory, that of a page or of one larger event. It has no events between two calls.
    private var batch = EventBatch()
    private let translation: Translation

    init(translation: Translation) {
        self.translation = translation
        watchers = Watchers(tickPlaces: translation.limits.tickPlaces)
    }

    // MARK: Clients that wait

    mutating func addWaiting(_ connection: Connection, for key: Key) { waiting[key, default: []].append(connection) }

    mutating func removeWaiting(_ connection: Connection, for key: Key) {
        waiting[key]?.removeAll { $0 === connection }
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
    }

    /// Takes the connections with a wait that ends with a change.
    private mutating func takeWaiting(for change: Change) -> [Connection] {
        let key = change.countdown.key
        guard !change.countdown.isLive, let connections = waiting.removeValue(forKey: key) else { return [] }
        var ended: [Connection] = []
        for connection in connections {
            guard case .waiting(_, let revision) = connection.unfinishedReply else { continue }
            if revision < change.countdown.revision {
                connection.unfinishedReply = nil
                ended.append(connection)
            } else {
                // This call came after the end, so it waits for the end of the next countdown under the key.
                addWaiting(connection, for: key)
            }
        }
        return ended
    }

    // MARK: Events

    /// Delivers changes, which must be stored.
    ///
    /// It calls `deliver` for each watcher with the events that it gets, and `end` for each connection whose `Wait` ends, with
    /// the countdown that has ended.
    mutating func publish(
        _ changes: [Change],
        of timetable: borrowing Timetable,
        at now: Now,
        deliver: (WatcherID, borrowing EventBatch) -> Void,
        end: (Connection, KeyedCountdown) -> Void
    ) {
        guard !watchers.isEmpty || !waiting.isEmpty else { return }
        // No watcher is added or removed during the loop.
        let (hasWaiting, wantsTicks) = (!waiting.isEmpty, watchers.wantsTicks)
        let haveSameWatchers = watchers.allKeysHaveSameWatchers
        var batch = exchange(&batch, with: EventBatch())
        var last: Key?
        for change in changes {
            if hasWaiting { for connection in takeWaiting(for: change) { end(connection, change.countdown) } }
            // The ticks of a countdown that has changed move to the instants at which they are due now.
            if wantsTicks, let slot = timetable.slot(under: change.countdown.key) {
                watchers.schedule(slot, timetable[slot], at: now)
            }
            if last == nil || !haveSameWatchers {
                findSubscribers(of: change.countdown.key, after: &last, for: &batch, deliver)
            }
            guard !batch.subscribers.isEmpty else { continue }
            batch.append { translation.write(change, at: now, into: &$0) }
            if batch.events.count >= translation.limits.pageBytes { batch.deliver(deliver) }
        }
        batch.deliver(deliver)
        self.batch = batch
    }

    /// Delivers the ticks that are due, up to a limit, which is reduced by their number.
    mutating func publishTicks(
        of timetable: borrowing Timetable,
        limit: inout Int,
        at now: Now,
        deliver: (WatcherID, borrowing EventBatch) -> Void
    ) {
        guard watchers.wantsTicks else { return }
        let translation = translation
        var batch = exchange(&batch, with: EventBatch())
        batch.subscribers = []
        watchers.tick(at: now, in: timetable, budget: &limit) { key, remaining, subscribers in
            if subscribers != batch.subscribers || batch.events.count >= translation.limits.pageBytes {
                batch.deliver(deliver)
                batch.subscribers = subscribers
            }
            batch.append { translation.write(tickOf: key, remaining: remaining, into: &$0) }
        }
        batch.deliver(deliver)
        self.batch = batch
    }

    /// Encodes an event for one watcher.
    mutating func encode(_ event: DeliveredEvent, at now: Now, _ body: (borrowing EventBatch) -> Void) {
        var batch = exchange(&batch, with: EventBatch())
        batch.append { translation.write(event, at: now, into: &$0) }
        body(batch)
        batch.removeEvents()
        self.batch = batch
    }

    /// Makes the batch one for the watchers of a key, unless they are the watchers of the last key.
    private mutating func findSubscribers(
        of key: Key,
        after last: inout Key?,
        for batch: inout EventBatch,
        _ deliver: (WatcherID, borrowing EventBatch) -> Void
    ) {
        if let last, watchers.haveSameWatchers(last, key) { return }
        batch.deliver(deliver)
        batch.subscribers.removeAll(keepingCapacity: true)
        watchers.forEachWatcher(of: key) { batch.subscribers.append($0) }
        last = key
    }
}
