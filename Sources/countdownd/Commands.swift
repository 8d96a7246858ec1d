import CountdownCore
import Fleet
import System
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
            guard turn.callsLeft > 0, turn.canAnswerMore else {
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
            if calls == budget || !turn.canAnswerMore { connections.enqueueCalls(of: connection) }
        }
    }

    /// Answers the calls of a turn again after their changes were rolled back.
    func answerAgain(_ turn: inout Turn) {
        for caller in turn.callers.reversed() {
            release(caller.connection)
            caller.connection.session.rollback(to: caller.savepoint)
        }
        turn.callBytesLeft = .max
        for caller in turn.callers {
            _ = answerCalls(of: caller.connection, limit: caller.calls, &turn)
            // A call that waited may have been answered at once this time, so the calls behind it can follow.
            connections.enqueueCalls(of: caller.connection)
        }
    }

    /// - Returns: the number of calls carried out; less than the limit if no more can be carried out now.
    private func answerCalls(of connection: Connection, limit: Int, _ turn: inout Turn) -> Int {
        connections.markDirty(connection)
        // One access to the session for all calls, because each access is checked for exclusivity. Until it ends, only the
        // session that is passed on may be used.
        return connection.use { answerCalls(in: &$0, of: connection, limit: limit, &turn) }
    }

    private func answerCalls(
        in session: inout ServerSession,
        of connection: Connection,
        limit: Int,
        _ turn: inout Turn
    ) -> Int {
        var calls = 0
        while calls < limit, turn.canAnswerMore, !connection.isBusy, !connection.isHeldUp, session.pendingInput > 0 {
            guard session.unsent <= limits.pageBytes else {
                connection.isThrottled = true
                break
            }
            let savepoint = session.hasPostponedCalls ? session.savepoint() : nil
            let pending = session.pendingInput
            let step = session.next()
            turn.callBytesLeft -= pending - session.pendingInput
            switch step {
            case .call(let call):
                counters.calls += 1
                if !answer(call, in: &session, of: connection, &turn), let savepoint {
                    counters.calls -= 1
                    session.rollback(to: savepoint)
                    return calls
                }
                calls += 1
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

    /// - Returns: false if the call has to wait for the replies to those before it.
    private func answer(
        _ call: Call,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) -> Bool {
        do {
            let request = try session.readParameters({ try translation.request(in: call, reading: &$0) })
            // Before the store is open, not even "no such countdown" can be answered.
            if let failure = turn.openFailure, request.isAboutCountdowns {
                throw translation.storageFailed(failure.reason)
            }
            if fleet != nil {
                switch request {
                case .change(let request): return propose(request, call, in: &session, of: connection, at: turn.now)
                case .startAll(let starts, _) where starts.count > limits.cooldownsInFleet:
                    throw translation.limitReached("cooldownsInFleet", limits.cooldownsInFleet)
                case .startAll(let starts, dryRun: false):
                    guard let start = starts.first else { break }
                    return propose(.start(start), isStartAll: true, call, in: &session, of: connection, at: turn.now)
                default: break
                }
                if session.hasPostponedCalls { return false }
                if let reason = fleet?.member.silenceReason, request.isAboutCountdowns {
                    throw translation.unreachable(reason)
                }
            }
            switch request {
            case .change(let request): try answer(request, call, in: &session, of: connection, &turn)
            case .startAll(let starts, let dryRun): try startAll(starts, dryRun, in: &session, &turn)
            case .countdown(let key): answerGet(key, in: &session, at: turn.now)
            case .list(let request): try beginList(request, call, of: connection)
            case .wait(let key): answerWait(key, in: &session, of: connection, at: turn.now)
            case .watch(let request): try beginWatch(request, of: connection, at: turn.now)
            case .status: session.reply(status(at: turn.now))
            case .ping: session.reply()
            case .logLevel(let level):
                guard !isStranger(connection.user) else { throw ServiceError.permissionDenied }
                log.level = level
                storage.log.level = level
                session.reply()
            }
        } catch let error as any ReplyError {
            session.fail(error)
        } catch {
            session.fail(ServiceError.methodNotImplemented(call.method))
        }
        return true
    }

    // MARK: Changes

    private func answer(
        _ request: Request,
        _ call: Call,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) throws {
        if let failure = turn.failure { throw translation.storageFailed(failure.reason) }
        let queued = turn.hasQueuedStarts ? queuedStarts(before: request) : 0
        switch try decide(request, at: turn.now, queued: queued) {
        case .attached(let current): reply(.attached, current, to: call, in: &session, at: turn.now)
        case .wait(let due): enqueue(request, of: connection, until: due, &turn)
        case .change(let change):
            carryOut(change, &turn)
            reply(.changed(change.kind), change.countdown, to: call, in: &session, at: turn.now)
            if turn.hasQueuedStarts { serveQueue(for: change.countdown.key, &turn) }
        }
    }

    /// Starts all cooldowns or none.
    private func startAll(
        _ starts: [Request.Start],
        _ dryRun: Bool,
        in session: inout ServerSession,
        _ turn: inout Turn
    ) throws {
        if !dryRun, let failure = turn.failure { throw translation.storageFailed(failure.reason) }
        let hasQueuedStarts = turn.hasQueuedStarts
        do throws(Refusal) {
            let outcome = try timetable.startAll(starts, dryRun: dryRun, at: turn.now) {
                hasQueuedStarts ? queuedStarts(before: .start($0)) : 0
            }
            turn.applied += outcome.applied
            turn.changes.steps += outcome.applied.map(\.change)
            session.reply {
                translation.write(outcome.isAccepted, outcome.rooms, outcome.retryAfter, at: turn.now, into: &$0)
            }
        } catch {
            throw translation.error(error, at: turn.now)
        }
    }

    private func decide(_ request: Request, at now: Now, queued: Int) throws -> Decision {
        do throws(Refusal) {
            return try timetable.decide(request, at: now, queued: queued)
        } catch {
            throw translation.error(error, at: now)
        }
    }

    private func reply(
        _ outcome: ChangeOutcome,
        _ countdown: KeyedCountdown,
        to call: Call,
        in session: inout ServerSession,
        at now: Now
    ) {
        session.reply { translation.write(outcome, of: call, countdown, at: now, into: &$0) }
    }

    func carryOut(_ change: Change, _ turn: inout Turn) {
        turn.applied.append(timetable.apply(change))
        turn.changes.steps.append(change)
    }

    // MARK: Calls that change nothing

    private func answerGet(_ key: Key, in session: inout ServerSession, at now: Now) {
        let isKnown = timetable.withCountdown(under: key) { countdown in
            session.reply { translation.write(countdown, at: now, into: &$0) }
        }
        if !isKnown { session.fail(translation.noSuchCountdown(key)) }
    }

    private func answerWait(_ key: Key, in session: inout ServerSession, of connection: Connection, at now: Now) {
        guard let countdown = timetable.countdown(under: key), countdown.isLive else {
            return answerGet(key, in: &session, at: now)
        }
        connection.unfinishedReply = .waiting(key, after: timetable.revision)
        publisher.addWaiting(connection, for: key)
    }

    /// How much waits now, by the names in `GetStatus`.
    private var queues: [String: Int] {
        let own = [
            "unsentBytes": connections.unsentBytes,
            "receivedBytes": connections.receivedBytes,
            "heldEnds": timetable.heldEnds,
            "unstoredChanges": storage.unstoredChanges,
            "logPages": storage.logPages,
        ]
        return own.merging(fleet?.queues ?? [:]) { own, _ in own }
    }

    private func status(at now: Now) -> some JSONEncodable {
        counters.checkpoints = storage.checkpoints
        counters.mostUnsentBytes = connections.mostUnsentBytes
        return translation.status(
            started: started.wall,
            timetable: timetable,
            watchers: publisher.watchers.count,
            connections: connections.count,
            counters: counters.named.merging(fleet?.counters.named ?? [:]) { own, _ in own },
            queuedStarts: startQueue.count + (fleet?.member.queuedCalls ?? 0),
            fleet: fleet?.status(clockLead: clocks.engineLead, at: now),
            lateness: lateness,
            queues: queues,
            storageFailure: storage.failure?.reason ?? fleet?.failure
        )
    }
}
