import CountdownCore

/// The calls of `Start` with `ifRunning: wait` that wait for their turn, in the order of their arrival, by key.
///
/// It knows the order, and which keys have to be looked at. The timetable decides whether a call is served, and the connection
/// keeps the request. A key has a queue only while its countdown is live: the turn in which the countdown ends serves the
/// first call.
struct StartQueue {
    /// A call in the queue; a later call has a greater number.
    struct QueuedCall {
        let number: Int
        let connection: Connection
    }

    private struct KeyQueue {
        /// In the order of their numbers.
        var calls: [QueuedCall] = []
        /// When the first call can be served even if nothing changes.
        var due: Deadline?
        /// Whether the key stands in `marked`.
        var isMarked = false

        func index(of number: Int) -> Int { calls.firstIndex(bisecting: { $0.number >= number }) }
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
    func calls(for key: Key) -> [QueuedCall] { queues[key]?.calls ?? [] }

    /// The first call for a key.
    func first(for key: Key) -> QueuedCall? { queues[key]?.calls.first }

    /// Adds a call behind all others for its key.
    ///
    /// - Returns: the number of its place in the queue.
    mutating func append(_ connection: Connection, for key: Key) -> Int {
        lastNumber += 1
        insert(QueuedCall(number: lastNumber, connection: connection), for: key)
        return lastNumber
    }

    /// Inserts a call in the order of the numbers.
    mutating func insert(_ call: QueuedCall, for key: Key) {
        let index = queues[key]?.index(of: call.number) ?? 0
        queues[key, default: KeyQueue()].calls.insert(call, at: index)
        count += 1
    }

    /// Removes a call; nothing happens if it was removed before. If it was the first one, its key is marked.
    mutating func remove(_ number: Int, for key: Key) {
        guard let index = index(of: number, for: key) else { return }
        queues[key]?.calls.remove(at: index)
        count -= 1
        if queues[key]?.calls.isEmpty == true { removeQueue(of: key) } else if index == 0 { mark(key) }
    }

    /// Removes the first call for a key.
    mutating func removeFirst(for key: Key) {
        guard queues[key] != nil else { return }
        queues[key]?.calls.removeFirst()
        count -= 1
        if queues[key]?.calls.isEmpty == true { removeQueue(of: key) }
    }

    /// Removes all calls for a key.
    mutating func removeAll(for key: Key) -> [QueuedCall] {
        let calls = queues[key]?.calls ?? []
        count -= calls.count
        removeQueue(of: key)
        return calls
    }

    private func index(of number: Int, for key: Key) -> Int? {
        guard let queue = queues[key] else { return nil }
        let index = queue.index(of: number)
        return index < queue.calls.count && queue.calls[index].number == number ? index : nil
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
        case .elapsed(let instant): elapsed.remove(key, at: instant)
        case .wall(let instant): wall.remove(key, at: instant)
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
    func next(at now: Now) -> WallInstant? {
        earliest(elapsed.next.map(now.wall(of:)), wall.next)
    }
}

/// A queued start that was carried out, or refused, when its turn came.
struct ServedStart {
    let call: StartQueue.QueuedCall
    let start: Request.Start
    let result: CallResult
}
