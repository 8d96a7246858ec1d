import CountdownCore
import Varlink

/// Carrying out what was asked. Replies are held in the sessions until the turn is stored.
extension Daemon {
    /// Carries out calls, a portion of each peer.
    func answerCalls(_ turn: inout Turn) {
        // What is due ends first: whoever asks is told of it.
        guard !turn.isCutShort else { return }
        let queue = unanswered
        unanswered = []
        unanswered.reserveCapacity(queue.count)
        turn.callers.reserveCapacity(queue.count)
        for (index, peer) in queue.enumerated() {
            guard turn.callsLeft > 0 else {
                // Before those who had their portion, so that nobody waits for ever.
                unanswered = queue[index...] + unanswered
                break
            }
            peer.isUnanswered = false
            guard peer.condition == .open else { continue }
            let portion = min(policy.callsOfPeerInTurn, turn.callsLeft)
            let savepoint = peer.session.savepoint()
            let calls = answerCalls(of: peer, limit: portion, &turn)
            turn.callsLeft -= calls
            if calls > 0 { turn.callers.append(Turn.Caller(peer: peer, savepoint: savepoint, calls: calls)) }
            if calls == portion { enqueueCalls(of: peer) }
        }
    }

    /// Answers the calls of a turn once more, after their changes were taken back.
    func answerAgain(_ turn: inout Turn) {
        for caller in turn.callers.reversed() {
            release(caller.peer)
            caller.peer.session.rollback(to: caller.savepoint)
        }
        for caller in turn.callers {
            _ = answerCalls(of: caller.peer, limit: caller.calls, &turn)
            // What the calls behind waited for may have been answered at once this time.
            enqueueCalls(of: caller.peer)
        }
    }

    /// - Returns: how many calls were carried out; fewer than the limit where there are no more for now.
    private func answerCalls(of peer: Peer, limit: Int, _ turn: inout Turn) -> Int {
        var calls = 0
        touch(peer)
        while calls < limit, !peer.isBusy, peer.levels.pendingInput > 0 {
            guard peer.levels.unsent <= policy.pageBytes else {
                peer.isHeldBack = true
                break
            }
            let answered = answerRepetitions(of: peer, limit: limit - calls, &turn)
            calls += answered
            counters.calls += answered
            if answered > 0 { continue }
            switch peer.session.next() {
            case .call(let call):
                calls += 1
                counters.calls += 1
                answer(call, of: peer, &turn)
            case .answered:
                calls += 1
                counters.calls += 1
                guard !peer.isExcess else {
                    peer.condition = .closing
                    return calls
                }
            case .violation(let violation):
                complain(about: violation, at: turn.now)
                peer.condition = .closing
                return calls
            case nil:
                return calls
            }
        }
        return calls
    }

    private func answer(_ call: Call, of peer: Peer, _ turn: inout Turn) {
        peer.repeatable = .none
        do {
            switch try translation.asked(by: call) {
            case .change(let request):
                if case .start(let start) = request { expectRepetitions(of: .start(start), from: peer) }
                try answer(request, call, of: peer, &turn)
            case .countdown(let key):
                expectRepetitions(of: .get, from: peer)
                answerGet(key, of: peer, at: turn.now)
            case .list(let question): beginList(question, call, of: peer)
            case .wait(let key): answerWait(key, of: peer, at: turn.now)
            case .watch(let question): beginWatch(question, of: peer, at: turn.now)
            case .status: peer.session.reply(status())
            }
        } catch let error as any ReplyError {
            peer.session.fail(error)
        } catch {
            peer.session.fail(ServiceError.methodNotImplemented(call.method))
        }
    }

    // MARK: Changes

    private func answer(_ request: Request, _ call: Call, of peer: Peer, _ turn: inout Turn) throws {
        if let failure = turn.failure { throw translation.storageFailed(failure.reason) }
        let decision: Decision
        do throws(Refusal) { decision = try timetable.decide(request, at: turn.now) } catch {
            throw translation.error(error, at: turn.now)
        }
        let (outcome, countdown) = carryOut(decision, &turn)
        peer.session.reply { translation.write(outcome, of: call, countdown, at: turn.now, into: &$0) }
    }

    private func carryOut(_ decision: Decision, _ turn: inout Turn) -> (Outcome, KeyedCountdown) {
        switch decision {
        case .attached(let current): return (.attached, current)
        case .change(let change):
            turn.applied.append(timetable.apply(change))
            turn.changes.steps.append(change)
            return (.changed(change.kind), change.countdown)
        }
    }

    // MARK: Questions

    private func answerGet(_ key: Key, of peer: Peer, at now: Now) {
        guard let countdown = timetable.countdown(under: key) else {
            return peer.session.fail(translation.noSuchCountdown(key))
        }
        peer.session.reply { translation.write(countdown, at: now, into: &$0) }
    }

    private func answerWait(_ key: Key, of peer: Peer, at now: Now) {
        guard let countdown = timetable.countdown(under: key), countdown.isLive else {
            return answerGet(key, of: peer, at: now)
        }
        peer.activity = .waiting(key, after: timetable.revision)
        waiting[key, default: []].append(peer)
    }

    // MARK: What is asked once more

    private func expectRepetitions(of call: Peer.Repeatable, from peer: Peer) {
        peer.repeatable = call
        translation.expectRepetitions(in: &peer.session)
    }

    /// Answers calls for as long as each asks for what the last one did, with another key, and there is nothing to refuse.
    private func answerRepetitions(of peer: Peer, limit: Int, _ turn: inout Turn) -> Int {
        switch peer.repeatable {
        case .none: 0
        case .get: answerRepeatedGets(of: peer, limit: limit, at: turn.now)
        case .start(let start): turn.failure == nil ? answerRepeated(start, of: peer, limit: limit, &turn) : 0
        }
    }

    private func answerRepeatedGets(of peer: Peer, limit: Int, at now: Now) -> Int {
        peer.use { session in
            translation.answerRepetitions(in: &session, atMost: limit) { key, writer in
                guard let countdown = timetable.countdown(under: key) else { return false }
                translation.write(countdown, at: now, into: &writer)
                return true
            }
        }
    }

    private func answerRepeated(_ start: Request.Start, of peer: Peer, limit: Int, _ turn: inout Turn) -> Int {
        var start = start
        return peer.use { session in
            translation.answerRepetitions(in: &session, atMost: limit) { key, writer in
                start.key = key
                guard let decision = try? timetable.decide(.start(start), at: turn.now) else { return false }
                let (outcome, countdown) = carryOut(decision, &turn)
                translation.write(outcome, countdown, at: turn.now, into: &writer)
                return true
            }
        }
    }

    private func status() -> some JSONEncodable {
        counters.checkpoints = storage.checkpoints
        return translation.status(
            started: started,
            timetable: timetable,
            watchers: watchers.count,
            connections: peers.count,
            counters: counters
        )
    }
}
