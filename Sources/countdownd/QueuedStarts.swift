import CountdownCore
import Varlink

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
        while let queued = startQueue.calls(for: key).first {
            guard turn.canAnswerMore else {
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
                    // Its call was counted in an earlier turn.
                    if change.kind == .started { turn.countText(of: change.countdown) }
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
