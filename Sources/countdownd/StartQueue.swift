import CountdownCore
import Varlink

/// The calls of `Start` with `ifRunning: wait` that wait for their turn, in the order of their arrival, by key.
///
/// It knows the order, and which keys have to be looked at. The timetable decides whether a call is served, and the connection
/// keeps the request. A key has a queue only while its countdown is live: the turn in which the countdown ends serves the
/// first call.
struct StartQueue {
    private struct KeyQueue {
        var calls: [ConnectionCall] = []
        /// When the first call can be served even if nothing changes.
        var due: Deadline?
        /// Whether the key stands in `marked`.
        var isMarked = false
    }

    private var queues: [Key: KeyQueue] = [:]
    private var elapsed = Agenda<BootLine, Key>()
    private var wall = Agenda<WallLine, Key>()
    /// Keys whose first call may be served now.
    private var marked: [Key] = []
    private var lastNumber = 0
    /// The number of calls that wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// The number of keys that have to be looked at.
    var markedCount: Int { marked.count }

    /// The calls for a key, in their order.
    func calls(for key: Key) -> [ConnectionCall] { queues[key]?.calls ?? [] }

    /// Adds a call behind all others for its key.
    ///
    /// - Returns: the number of its place in the queue.
    mutating func append(_ connection: Connection, for key: Key) -> Int {
        lastNumber += 1
        insert(ConnectionCall(number: lastNumber, connection: connection), for: key)
        return lastNumber
    }

    /// Gives a call its place, which it may have had before.
    mutating func insert(_ call: ConnectionCall, for key: Key) {
        queues[key, default: KeyQueue()].calls.enqueue(call)
        count += 1
    }

    /// Removes a call; nothing happens if it was removed before. If it was the first one, its key is marked.
    mutating func remove(_ number: Int, for key: Key) {
        guard let place = queues[key]?.calls.withdraw(number) else { return }
        count -= 1
        if queues[key]?.calls.isEmpty == true { removeQueue(of: key) } else if place == 0 { mark(key) }
    }

    /// Removes the first call for a key.
    mutating func removeFirst(for key: Key) {
        guard queues[key]?.calls.removeFirst() != nil else { return }
        count -= 1
        if queues[key]?.calls.isEmpty == true { removeQueue(of: key) }
    }

    /// Removes all calls for a key.
    mutating func removeAll(for key: Key) -> [ConnectionCall] {
        let calls = calls(for: key)
        count -= calls.count
        removeQueue(of: key)
        return calls
    }

    private mutating func removeQueue(of key: Key) {
        setDue(nil, for: key)
        queues[key] = nil
    }

    // MARK: When to look at a key

    /// Notes that the first call for a key may be served, because its countdown or the queue has changed.
    mutating func mark(_ key: Key) {
        guard queues[key]?.isMarked == false else { return }
        queues[key]?.isMarked = true
        marked.append(key)
    }

    /// Takes the marked keys, in the order in which they were marked.
    mutating func takeMarked() -> [Key] {
        let taken = marked
        marked = []
        for key in taken { queues[key]?.isMarked = false }
        return taken
    }

    /// Marks the keys whose first call can be served at this instant.
    mutating func markDue(at now: Now) {
        while let key = elapsed.takeDue(at: now.boot) ?? wall.takeDue(at: now.wall) {
            queues[key]?.due = nil
            mark(key)
        }
    }

    /// Sets when the first call for a key can be served if nothing changes; nil if only a change lets it.
    mutating func setDue(_ due: Deadline?, for key: Key) {
        guard let queue = queues[key], queue.due != due else { return }
        switch queue.due {
        case .elapsed: elapsed.remove(key)
        case .wall: wall.remove(key)
        case nil: break
        }
        queues[key]?.due = due
        switch due {
        case .elapsed(let instant): elapsed.add(key, at: instant)
        case .wall(let instant): wall.add(key, at: instant)
        case nil: break
        }
    }

    /// When a key has to be looked at next, as the system clock is set now.
    func next(at now: Now) -> WallInstant? { earliest(elapsed.next.map(now.wall(of:)), wall.next) }
}

/// A call that waits for its result, by the number that it has in a queue, or with the member of a fleet.
struct ConnectionCall: QueuedCall {
    let number: Int
    let connection: Connection
}
