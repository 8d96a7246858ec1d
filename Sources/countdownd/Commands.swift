import CountdownCore
import Fleet
import System
import Varlink

/// Carries out calls. Nothing is sent before the turn is stored.
extension Daemon {
    /// Carries out calls, of each connection no more than its budget.
    func answerCalls(_ turn: inout Turn) {
        // If expiries are left over they come first, because a reply must show them.
        guard !turn.isCutShort else { return }
        for _ in 0..<connections.withCalls.count {
            guard turn.callsLeft > 0, turn.canAnswerMore, let connection = connections.withCalls.takeFirst() else {
                break
            }
            guard connection.condition == .open else { continue }
            connections.dirty.append(connection)
            // One access to the session for all calls, because each access is checked for exclusivity. Until it ends, only the
            // session that is passed on may be used.
            let hasMore = connection.use { answerCalls(in: &$0, of: connection, &turn) }
            if hasMore { connections.withCalls.append(connection) }
        }
    }

    /// - Returns: whether the connection's share of the turn was used up, so that more calls may follow.
    private func answerCalls(in session: inout ServerSession, of connection: Connection, _ turn: inout Turn) -> Bool {
        let leastCalls = turn.callsLeft - min(limits.callsOfConnectionInTurn, turn.callsLeft)
        let share = max(1, limits.callBytesInTurn / Turn.connectionsInTurn)
        let leastBytes = max(0, turn.callBytesLeft - share)
        while turn.callsLeft > leastCalls, turn.callBytesLeft > leastBytes, turn.servedStartsLeft > 0,
            !connection.isHeldUp, session.pendingInput > 0
        {
            guard session.unsent <= limits.pageBytes else {
                connection.isThrottled = true
                return false
            }
            let (pending, length) = (session.pendingInput, session.outputLength)
            let step = session.next()
            turn.callBytesLeft -= pending - session.pendingInput
            switch consume step {
            case .call(let call):
                // A reply to GetStatus counts its own call.
                counters.calls += 1
                let weight = answer(call, behind: length, in: &session, of: connection, &turn)
                guard weight > 0 else {
                    counters.calls -= 1
                    session.putBack()
                    return false
                }
                turn.callsLeft -= weight
            case .answered:
                counters.calls += 1
                connection.sharedCalls.hold(behind: length, in: &session)
                turn.addTicket(of: connection, nil, length..<session.outputLength)
                if connection.isOverQuota { connection.condition = .closing }
                turn.callsLeft -= 1
            case .violation(let violation):
                logLimited(about: violation, at: turn.now)
                connection.condition = .closing
                return false
            case nil:
                return false
            }
            turn.calls += 1
            turn.count(reply: session.outputLength - length)
            guard connection.condition == .open else { return false }
        }
        return turn.callsLeft <= leastCalls || turn.callBytesLeft <= leastBytes || turn.servedStartsLeft <= 0
    }

    /// - Returns: as how many calls it counts; 0 if it has to wait for the replies to those before it.
    private func answer(
        _ call: Call,
        behind length: Int,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) -> Int {
        var weight = 1
        do {
            let request = try session.readParameters { try translation.request(in: call, reading: &$0) }
            // Before the store is open, not even "no such countdown" can be answered.
            if let failure = turn.openFailure, request.isAboutCountdowns {
                throw translation.storageFailed(failure.reason)
            }
            if fleet != nil, let isShared = try share(request, call, in: &session, of: connection, at: turn.now) {
                return isShared ? 1 : 0
            }
            // Consumed, because a copy takes 150 instructions.
            switch consume request {
            case .change(let request):
                answer(request, in: &session, of: connection, &turn)
                turn.addTicket(of: connection, (call, .change), length..<session.outputLength)
            case .countdown(let key):
                answerGet(key, in: &session, at: turn.now)
                turn.addTicket(of: connection, (call, .countdown(key)), length..<session.outputLength)
            case let request:
                weight = request.weight
                answer(request, call, in: &session, of: connection, &turn)
                let question = request.isChange ? Ticket.Question.change : .other(request)
                turn.addTicket(of: connection, (call, question), length..<session.outputLength)
                if request.mayWait { turn.holdUp(connection) }
            }
        } catch {
            fail(error, call, in: &session)
            connection.sharedCalls.hold(behind: length, in: &session)
            turn.addTicket(of: connection, nil, length..<session.outputLength)
        }
        return weight
    }

    /// Answers a call, or begins a reply that is finished later.
    func answer(
        _ request: ClientRequest,
        _ call: Call,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) {
        do {
            switch request {
            case .change(let request): answer(request, in: &session, of: connection, &turn)
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
        } catch {
            fail(error, call, in: &session)
        }
    }

    private func fail(_ error: any Error, _ call: Call, in session: inout ServerSession) {
        let error = error as? any ReplyError ?? ServiceError.methodNotImplemented(call.method)
        session.fail(error)
    }

    // MARK: Changes

    private func answer(
        _ request: Request,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) {
        let queued = turn.hasQueuedStarts ? queuedStarts(before: request) : 0
        do throws(Refusal) {
            switch try timetable.decide(request, at: turn.now, queued: queued) {
            case .attached(let current):
                session.reply { translation.write(nil, of: request, current, at: turn.now, into: &$0) }
            case .wait(let due): return enqueue(request, of: connection, until: due, &turn)
            case .change(let change):
                carryOut(change, &turn)
                if turn.hasQueuedStarts { serveQueue(for: change.countdown.key, &turn) }
                session.reply { translation.write(change.kind, of: request, change.countdown, at: turn.now, into: &$0) }
            }
        } catch {
            session.fail(translation.error(error, at: turn.now))
        }
    }

    /// Answers a request that has waited for its result.
    func reply(_ result: CallResult, to request: Request, in session: inout ServerSession, at now: Now) {
        switch result {
        case .changed(let kind, let countdown):
            session.reply { translation.write(kind, of: request, countdown, at: now, into: &$0) }
        case .attached(let countdown):
            session.reply { translation.write(nil, of: request, countdown, at: now, into: &$0) }
        case .refused(let refusal): session.fail(translation.error(refusal, at: now))
        case .notMade(let reason): session.fail(translation.storageFailed(reason))
        case .unknown(let reason): session.fail(translation.unreachable(reason))
        }
    }

    /// Starts all cooldowns or none.
    private func startAll(
        _ starts: [Request.Start],
        _ dryRun: Bool,
        in session: inout ServerSession,
        _ turn: inout Turn
    ) throws {
        let hasQueuedStarts = turn.hasQueuedStarts
        do throws(Refusal) {
            let outcome = try timetable.startAll(starts, dryRun: dryRun, at: turn.now) {
                hasQueuedStarts ? queuedStarts(before: .start($0)) : 0
            }
            turn.applied += outcome.applied
            turn.changes.steps += outcome.changes
            for change in outcome.changes { turn.countText(of: change) }
            session.reply {
                translation.write(outcome.isAccepted, outcome.rooms, outcome.retryAfter, at: turn.now, into: &$0)
            }
        } catch {
            throw translation.error(error, at: turn.now)
        }
    }

    func carryOut(_ change: Change, _ turn: inout Turn) {
        turn.applied.append(timetable.apply(change))
        turn.countText(of: change)
        turn.changes.steps.append(change)
    }

    // MARK: Calls that change nothing

    func answerGet(_ key: Key, in session: inout ServerSession, at now: Now) {
        let isKnown = timetable.withCountdown(under: key) { countdown in
            session.reply { translation.write(countdown, at: now, into: &$0) }
        }
        if !isKnown { session.fail(translation.error(.noSuchCountdown(key), at: now)) }
    }

    private func answerWait(_ key: Key, in session: inout ServerSession, of connection: Connection, at now: Now) {
        guard let countdown = timetable.countdown(under: key), countdown.isLive else {
            return answerGet(key, in: &session, at: now)
        }
        connection.unfinishedReply = .waiting(key, after: timetable.revision)
        publisher.addWaiting(connection, for: key)
    }
}

/// The calls of a turn, once it is stored, and if it cannot be.
extension Daemon {
    /// Lets the calls go on that wait until the turn is stored.
    func releaseHeldUp(_ turn: borrowing Turn) {
        for connection in turn.heldUp {
            connection.isHeldUp = false
            connections.withCalls.append(connection)
        }
    }

    /// Decides the tickets again, in their order, after their changes were undone.
    func decideAgain(_ failure: StoreFailure, _ turn: inout Turn) {
        var rest = turn.tickets[...]
        while let first = rest.first {
            let part = rest.prefix { $0.connection === first.connection }
            release(first.connection)
            first.connection.use { decideAgain(part, failure, in: &$0, &turn) }
            // A call that waited may be answered now, so that the calls behind it can follow.
            connections.withCalls.append(first.connection)
            rest = rest.dropFirst(part.count)
        }
    }

    /// Decides the tickets of a connection again, and writes their replies anew.
    private func decideAgain(
        _ tickets: ArraySlice<Ticket>,
        _ failure: StoreFailure,
        in session: inout ServerSession,
        _ turn: inout Turn
    ) {
        let start = tickets[tickets.startIndex].reply.lowerBound
        let replies = session.takeOutput(behind: start)
        for ticket in tickets {
            guard let (call, question) = ticket.asked else {
                session.append(replies[ticket.reply.lowerBound - start..<ticket.reply.upperBound - start])
                continue
            }
            session.resume(call)
            switch question {
            case .change: session.fail(translation.storageFailed(failure.reason))
            case .countdown(let key): answerGet(key, in: &session, at: turn.now)
            case .other(let request): answer(request, call, in: &session, of: ticket.connection, &turn)
            }
        }
    }
}
