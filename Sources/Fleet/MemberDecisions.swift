import CountdownCore

/// Deciding calls: each becomes a proposal to the engine, or waits.
extension Member {
    /// A chain that is being made.
    private struct Draft {
        var chain: Chain
        /// Changes of the timetable that are undone once the chain is complete.
        var applied: [Applied] = []
        /// Whether this host lets others go first.
        var isPaused = false
        /// Until when a call must wait; nil if none must.
        var blocked: WallInstant?
        /// The countdown that is known, if the one in the timetable has tokens of calls that wait.
        var known: KeyedCountdown?
    }

    /// Decides calls of a key one after the other, each on the state that the ones before lead to.
    mutating func decide(
        _ entry: inout KeyCalls,
        _ key: Key,
        _ timetable: inout Timetable,
        at now: Now
    ) -> [Step] {
        let held = records[key]
        var draft = Draft(chain: Chain(after: held, at: now))
        if let fault = held?.fault {
            confirm(fault, in: &draft.chain, &entry, key, at: now)
            return draft.chain.steps
        }
        decideQueue(&entry, key, &draft, &timetable, at: now)
        if !draft.isPaused { decidePending(&entry, key, &draft, &timetable, at: now) }
        for applied in draft.applied.reversed() { timetable.undo(applied) }
        entry.isWithinMargin = draft.blocked != nil && !draft.isPaused
        guard draft.chain.steps.isEmpty else { return draft.chain.steps }
        if draft.isPaused { entry.notBefore = draft.blocked }
        wake(key, at: draft.blocked)
        // The end comes by itself.
        if !entry.queue.isEmpty, let end = held?.end, end > now.wall { wake(key, at: end) }
        return []
    }

    /// Decides the first starts of the queue.
    private mutating func decideQueue(
        _ entry: inout KeyCalls,
        _ key: Key,
        _ draft: inout Draft,
        _ timetable: inout Timetable,
        at now: Now
    ) {
        while let head = entry.queue.first, draft.chain.steps.count < options.proposalsAtOnce {
            let decision = Result { () throws(Refusal) in try timetable.decide(head.request, at: now) }
            if case .success(.wait(let room)) = decision { return wake(key, at: room?.wall(at: now)) }
            if case .success(.change(let change)) = decision, change.kind == .started, draft.chain.steps.isEmpty {
                draft.blocked = pause(of: key, at: now)
                draft.isPaused = draft.blocked != nil
            }
            guard !draft.isPaused, append(head, decision, to: &draft, &timetable, at: now) else { return }
            entry.queue.removeFirst()
        }
    }

    /// Until when this host lets others go first, because it has won last; nil if it need not.
    private func pause(of key: Key, at now: Now) -> WallInstant? {
        guard let held = records[key], held.run.host == host, let end = held.end else { return nil }
        let pause = end + options.pauseAfterWin
        return pause > now.wall ? pause : nil
    }

    private mutating func decidePending(
        _ entry: inout KeyCalls,
        _ key: Key,
        _ draft: inout Draft,
        _ timetable: inout Timetable,
        at now: Now
    ) {
        let first = takeWaiting(of: entry, &draft, &timetable, at: now)
        var index = first
        var waiting: [MemberCall] = []
        // Only the log gives revisions, so a call that names one is not decided on a change that is not made yet.
        while index < entry.pending.count, draft.chain.steps.count < options.proposalsAtOnce,
            case var call = entry.pending[index], call.request.ifRevision == nil || draft.applied.isEmpty,
            draft.blocked == nil || call.takesToken
        {
            let queued = entry.queue.count
            let decision = Result { () throws(Refusal) in
                try timetable.decide(call.request, at: now, queued: queued)
            }
            if case .success(.wait(let room)) = decision {
                if entry.queue.isEmpty { wake(key, at: room?.wall(at: now)) }
                enqueue(call, in: &entry)
            } else if !append(call, decision, to: &draft, &timetable, at: now) {
                guard call.takesToken, case .success(.change(let change)) = decision else { break }
                if wait(&call, for: change, in: &draft, &timetable, at: now) { waiting.append(call) }
            }
            index += 1
        }
        entry.pending.replaceSubrange(first..<index, with: waiting)
        let count = first + waiting.count
        entry.waiting = nil
        guard count > 0, let known = draft.known, let countdown = timetable.countdown(under: key) else { return }
        let addition = countdown.remaining(at: now) - known.remaining(at: now)
        entry.waiting = WaitingTokens(count: count, id: draft.chain.id, addition: addition)
    }

    /// Appends the proposal of a call to a chain.
    ///
    /// - Returns: false if the call must wait for the deadline.
    private mutating func append(
        _ call: MemberCall,
        _ decision: Result<Decision, Refusal>,
        to draft: inout Draft,
        _ timetable: inout Timetable,
        at now: Now
    ) -> Bool {
        let limit = now.wall + (call.expires.map { $0 - now.boot } ?? options.patience)
        switch decision {
        case .success(.change(let change)):
            guard let window = window(of: draft.chain, until: limit, at: now) else {
                draft.blocked = draft.chain.basis.deadline
                return false
            }
            draft.chain.append(change, of: call, in: window, as: newID(), at: now)
            draft.applied.append(timetable.apply(change))
        case .success(.attached(let countdown)): confirm(.attached(countdown), of: call, until: limit, in: &draft)
        case .success(.wait): preconditionFailure("a start that waits is in the queue")
        case .failure(let refusal): confirm(.refused(refusal), of: call, until: limit, in: &draft)
        }
        return true
    }

    /// The window of the next change of a chain; nil if that must wait for the deadline.
    private func window(of chain: Chain, until limit: WallInstant, at now: Now) -> Window? {
        chain.windowInChain(until: limit)
            ?? chain.basis.windowOfChange(
                at: now.wall,
                until: limit,
                patience: options.patience,
                margin: options.margin
            )
    }

    private mutating func confirm(
        _ decision: Step.Decision,
        of call: MemberCall,
        until limit: WallInstant,
        in draft: inout Draft
    ) {
        var (decision, window) = (decision, draft.chain.basis.windowOfConfirmation(until: limit))
        if call.takesToken {
            window = draft.chain.windowInChain(until: limit) ?? window
            if let known = draft.known, case .refused(let refusal) = decision {
                decision = .refused(refusal.about(known))
            }
        }
        if let confirmed = call.confirmed, confirmed == draft.chain.id, window.notBefore == nil,
            let result = decision.result(on: nil)
        {
            return finish(call, result)
        }
        guard !draft.chain.merge(decision, of: call, in: window) else { return }
        draft.chain.confirm([(call, decision)], of: call.request.key, in: window, as: newID())
    }

    // MARK: Rates

    /// Lets a change of a rate wait for a deadline within the margin. The calls behind it are decided as if it had extended the
    /// countdown: those that fit wait, too, and the others are refused. A call that has waited for earlier deadlines waits for
    /// a margin in all.
    ///
    /// - Returns: false if it does not wait any longer, and is refused.
    private mutating func wait(
        _ call: inout MemberCall,
        for change: Change,
        in draft: inout Draft,
        _ timetable: inout Timetable,
        at now: Now
    ) -> Bool {
        let (deadline, lastWait) = (draft.blocked ?? now.wall, call.lastWait ?? now.wall + options.margin)
        let known = draft.known ?? timetable.countdown(under: call.request.key)
        guard deadline <= lastWait else {
            if let known {
                let refusal = Refusal.alreadyRunning(known, retryAfter: deadline - now.wall)
                confirm(.refused(refusal), of: call, until: deadline, in: &draft)
            }
            return false
        }
        (draft.known, call.lastWait) = (known, lastWait)
        draft.applied.append(timetable.apply(change))
        return true
    }

    /// Takes the tokens of the calls that wait already for the deadline of the record.
    ///
    /// - Returns: how many calls; 0 if all must be decided.
    private func takeWaiting(
        of entry: KeyCalls,
        _ draft: inout Draft,
        _ timetable: inout Timetable,
        at now: Now
    ) -> Int {
        guard let waiting = entry.waiting, waiting.id == draft.chain.id, entry.queue.isEmpty,
            let key = entry.pending.first?.request.key, let known = timetable.countdown(under: key),
            window(of: draft.chain, until: now.wall + options.patience, at: now) == nil,
            case .change(let change)? = try? timetable.decide(.adjust(key, .by(waiting.addition)), at: now)
        else { return 0 }
        (draft.known, draft.blocked) = (known, draft.chain.basis.deadline)
        draft.applied.append(timetable.apply(change))
        return waiting.count
    }

    /// Asks whether the engine still holds a record that cannot be used; if so, no call can change its key.
    private mutating func confirm(
        _ fault: RecordFault,
        in chain: inout Chain,
        _ entry: inout KeyCalls,
        _ key: Key,
        at now: Now
    ) {
        let calls = entry.queue + entry.pending
        (entry.queue, entry.pending, entry.waiting) = ([], [], nil)
        let window = Window(notBefore: nil, notAfter: now.wall + options.patience)
        chain.confirm(calls.map { ($0, .unusable(fault)) }, of: key, in: window, as: newID())
    }

    mutating func newID() -> ProposalID {
        lastProposal += 1
        return ProposalID(host: host, number: lastProposal)
    }
}
