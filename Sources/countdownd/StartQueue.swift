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

    /// The first call for a key.
    func first(for key: Key) -> ConnectionCall? { queues[key]?.calls.first }

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
    func next(at now: Now) -> WallInstant? { earliest(elapsed.next.map(now.wall(of:)), wall.next) }
}

/// A call that waits for its result, by the number that it has in a queue, or with the member of a fleet.
struct ConnectionCall: QueuedCall {
    let number: Int
    let connection: Connection
}

/// The queue in the steps of a turn.
extension Daemon {
    /// How many starts of clients that are there wait for the key of a start, counted up to its `queueUpTo`; 0 for any other
    /// request.
    func queuedStarts(before request: Request) -> Int {
        guard case .start(let start) = request else { return 0 }
        let open = startQueue.calls(for: start.key).lazy.filter { $0.connection.condition == .open }
        return open.prefix(max(1, Int(start.queueUpTo ?? 1))).count
    }

    /// Lets a start wait. If it is the first one for its key, it may be served when the deadline comes.
    func enqueue(_ request: Request, of connection: Connection, until due: Deadline?, _ turn: inout Turn) {
        guard case .start(let start) = request else { return }
        turn.hasQueuedStarts = true
        connection.unfinishedReply = .queued(start, number: startQueue.append(connection, for: start.key))
        if let due { startQueue.setDue(due, for: start.key) }
    }

    /// Serves the queues of the keys that have ended, have changed, or are due. It comes before the calls, so that no call
    /// gets a key for which others wait.
    func serveQueue(_ turn: inout Turn) {
        guard turn.hasQueuedStarts || startQueue.markedCount > 0 else { return }
        startQueue.markDue(at: turn.now)
        for key in startQueue.takeMarked() { serveQueue(for: key, &turn) }
        turn.servedByTime = turn.results.count
    }

    /// Serves the queued starts for a key in their order, until one has to wait.
    func serveQueue(for key: Key, _ turn: inout Turn) {
        while let queued = startQueue.first(for: key) {
            guard turn.servedStartsLeft > 0 else {
                turn.isCutShort = true
                return startQueue.mark(key)
            }
            guard queued.connection.condition == .open, case .queued(let start, _) = queued.connection.unfinishedReply
            else {
                startQueue.removeFirst(for: key)
                continue
            }
            let result: CallResult
            do throws(Refusal) {
                switch try timetable.decide(.start(start), at: turn.now) {
                case .wait(let due): return startQueue.setDue(due, for: key)
                case .attached: preconditionFailure("a start that waits is never attached")
                case .change(let change):
                    carryOut(change, &turn)
                    result = .changed(change.kind, change.countdown)
                }
            } catch {
                result = .refused(error)
            }
            startQueue.removeFirst(for: key)
            turn.results.append((queued, result))
            turn.servedStartsLeft -= 1
        }
    }

    /// Answers the calls that have waited for their results, once the changes are stored.
    func answerWaitingCalls(_ turn: borrowing Turn) {
        for (call, result) in turn.results where call.connection.condition == .open {
            let connection = call.connection
            if case .queued(let start, call.number) = connection.unfinishedReply {
                finishReply(of: connection) { reply(result, to: .start(start), in: &$0, at: turn.now) }
            } else {
                answerSharedCall(call, result, at: turn.now)
            }
        }
        if turn.endsWatches { endWatches() }
    }

    // MARK: If the turn could not be stored

    /// Lets the served starts wait again, and looks at each queue again whose countdown's change was undone.
    func restoreQueue(_ turn: borrowing Turn, _ undone: ArraySlice<Change>) {
        for (call, _) in turn.results {
            if case .queued(let start, _) = call.connection.unfinishedReply { startQueue.insert(call, for: start.key) }
        }
        for change in undone { startQueue.mark(change.countdown.key) }
    }

    /// Answers all starts for the keys whose time had come with `StorageFailed`, because those countdowns have ended. Starts
    /// that a call would have served go on waiting, because that call has failed.
    func failQueue(_ failure: StoreFailure, _ turn: inout Turn) {
        for (call, _) in turn.results.prefix(turn.servedByTime) {
            guard case .queued(let start, _) = call.connection.unfinishedReply else { continue }
            for queued in startQueue.removeAll(for: start.key) {
                finishReply(of: queued.connection) { $0.fail(translation.storageFailed(failure.reason)) }
            }
        }
        (turn.results, turn.servedStartsLeft) = ([], turn.budget.servedStarts)
    }
}
