import CountdownCore
import Varlink

/// Carries out calls. Replies are held in the sessions until the turn is stored.
extension Daemon {
    /// Carries out calls, of each connection no more than its budget.
    func answerCalls(_ turn: inout Turn) {
        // If expiries are left over they come first, because a reply must show them.
        guard !turn.isCutShort else { return }
        let queue = connections.takeCallQueue()
        turn.callers.reserveCapacity(queue.count)
        for (index, connection) in queue.enumerated() {
            guard turn.callsLeft > 0, turn.servedStartsLeft > 0 else {
                connections.putBack(toCallQueue: queue[index...])
                break
            }
            connection.hasQueuedCalls = false
            guard connection.condition == .open else { continue }
            let budget = min(limits.callsOfConnectionInTurn, turn.callsLeft)
            let savepoint = connection.session.savepoint()
            let calls = answerCalls(of: connection, limit: budget, &turn)
            turn.callsLeft -= calls
            if calls > 0 {
                turn.callers.append(Turn.Caller(connection: connection, savepoint: savepoint, calls: calls))
            }
            if calls == budget || turn.servedStartsLeft == 0 { connections.enqueueCalls(of: connection) }
        }
    }

    /// Answers the calls of a turn again after their changes were rolled back.
    func answerAgain(_ turn: inout Turn) {
        for caller in turn.callers.reversed() {
            release(caller.connection)
            caller.connection.session.rollback(to: caller.savepoint)
        }
        for caller in turn.callers {
            _ = answerCalls(of: caller.connection, limit: caller.calls, &turn)
            // A call that waited may have been answered at once this time, so the calls behind it can follow.
            connections.enqueueCalls(of: caller.connection)
        }
    }

    /// - Returns: the number of calls carried out; less than the limit if no more can be carried out now.
    private func answerCalls(of connection: Connection, limit: Int, _ turn: inout Turn) -> Int {
        var calls = 0
        connections.markDirty(connection)
        while calls < limit, turn.servedStartsLeft > 0, !connection.isBusy, connection.buffers.pendingInput > 0 {
            guard connection.buffers.unsent <= limits.pageBytes else {
                connection.isThrottled = true
                break
            }
            switch connection.use({ $0.next() }) {
            case .call(let call):
                calls += 1
                counters.calls += 1
                answer(call, of: connection, &turn)
            case .answered:
                calls += 1
                counters.calls += 1
                guard !connection.isOverQuota else {
                    connection.condition = .closing
                    return calls
                }
            case .violation(let violation):
                logLimited(about: violation, at: turn.now)
                connection.condition = .closing
                return calls
            case nil:
                return calls
            }
        }
        return calls
    }

    private func answer(_ call: Call, of connection: Connection, _ turn: inout Turn) {
        do {
            switch try connection.readParameters({ try translation.request(in: call, reading: &$0) }) {
            case .change(let request): try answer(request, call, of: connection, &turn)
            case .countdown(let key): answerGet(key, of: connection, at: turn.now)
            case .list(let request): beginList(request, call, of: connection)
            case .wait(let key): answerWait(key, of: connection, at: turn.now)
            case .watch(let request): beginWatch(request, of: connection, at: turn.now)
            case .status: connection.session.reply(status())
            }
        } catch let error as any ReplyError {
            connection.session.fail(error)
        } catch {
            connection.session.fail(ServiceError.methodNotImplemented(call.method))
        }
    }

    // MARK: Changes

    private func answer(_ request: Request, _ call: Call, of connection: Connection, _ turn: inout Turn) throws {
        if let failure = turn.failure { throw translation.storageFailed(failure.reason) }
        let decision: Decision
        do throws(Refusal) {
            decision = try timetable.decide(request, at: turn.now, isBehindOthers: isBehindOthers(request, turn))
        } catch {
            throw translation.error(error, at: turn.now)
        }
        switch decision {
        case .attached(let current): reply(.attached, current, to: call, of: connection, at: turn.now)
        case .wait(let due): enqueue(request, of: connection, until: due, &turn)
        case .change(let change):
            carryOut(change, &turn)
            reply(.changed(change.kind), change.countdown, to: call, of: connection, at: turn.now)
            if turn.hasQueuedStarts { serveQueue(for: change.countdown.key, &turn) }
        }
    }

    private func reply(
        _ outcome: ChangeOutcome,
        _ countdown: KeyedCountdown,
        to call: Call,
        of connection: Connection,
        at now: Now
    ) {
        connection.use { $0.reply { translation.write(outcome, of: call, countdown, at: now, into: &$0) } }
    }

    func carryOut(_ change: Change, _ turn: inout Turn) {
        turn.applied.append(timetable.apply(change))
        turn.changes.steps.append(change)
    }

    // MARK: Calls that change nothing

    private func answerGet(_ key: Key, of connection: Connection, at now: Now) {
        guard let countdown = timetable.countdown(under: key) else {
            return connection.session.fail(translation.noSuchCountdown(key))
        }
        connection.use { $0.reply { translation.write(countdown, at: now, into: &$0) } }
    }

    private func answerWait(_ key: Key, of connection: Connection, at now: Now) {
        guard let countdown = timetable.countdown(under: key), countdown.isLive else {
            return answerGet(key, of: connection, at: now)
        }
        connection.unfinishedReply = .waiting(key, after: timetable.revision)
        publisher.addWaiting(connection, for: key)
    }

    private func status() -> some JSONEncodable {
        counters.checkpoints = storage.checkpoints
        counters.mostUnsentBytes = connections.mostUnsentBytes
        return translation.status(
            started: started,
            timetable: timetable,
            watchers: publisher.watchers.count,
            connections: connections.count,
            counters: counters.named,
            queuedStarts: startQueue.count
        )
    }
}
