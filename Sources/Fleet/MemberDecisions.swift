import CountdownCore

/// Deciding calls: each becomes a proposal to the engine, or waits.
extension Member {
    /// A chain that is being made.
    private struct Draft {
        var chain: Chain
        /// Changes of the timetable that are undone once the chain is complete.
        var applied: [Applied] = []
        /// Until when a call must wait, and those after it; nil if none must.
        var blocked: WallInstant?
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
        if draft.blocked == nil { decidePending(&entry, key, &draft, &timetable, at: now) }
        for applied in draft.applied.reversed() { timetable.undo(applied) }
        guard draft.chain.steps.isEmpty else { return draft.chain.steps }
        entry.notBefore = draft.blocked
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
            }
            guard draft.blocked == nil, append(head, decision, to: &draft, &timetable, at: now) else { return }
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
        var decided = 0
        defer { entry.pending.removeFirst(decided) }
        for call in entry.pending {
            // Only the log gives revisions, so a call that names one is not decided on a change that is not made yet.
            guard draft.chain.steps.count < options.proposalsAtOnce,
                call.request.ifRevision == nil || draft.applied.isEmpty
            else { return }
            let queued = entry.queue.count
            let decision = Result { () throws(Refusal) in
                try timetable.decide(call.request, at: now, queued: queued)
            }
            if case .success(.wait(let room)) = decision {
                if entry.queue.isEmpty { wake(key, at: room?.wall(at: now)) }
                enqueue(call, in: &entry)
            } else if !append(call, decision, to: &draft, &timetable, at: now) {
                return
            }
            decided += 1
        }
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
        let basis = draft.chain.basis
        switch decision {
        case .success(.change(let change)):
            let (patience, margin) = (options.patience, options.margin)
            guard let window = basis.windowOfChange(at: now.wall, until: limit, patience: patience, margin: margin)
            else {
                draft.blocked = basis.deadline
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

    private mutating func confirm(
        _ decision: Step.Decision,
        of call: MemberCall,
        until limit: WallInstant,
        in draft: inout Draft
    ) {
        let window = draft.chain.basis.windowOfConfirmation(until: limit)
        if let confirmed = call.confirmed, confirmed == draft.chain.id, window.notBefore == nil,
            let result = decision.result(on: nil)
        {
            return finish(call, result)
        }
        guard !draft.chain.merge(decision, of: call, in: window) else { return }
        draft.chain.confirm([(call, decision)], of: call.request.key, in: window, as: newID())
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
        (entry.queue, entry.pending) = ([], [])
        let window = Window(notBefore: nil, notAfter: now.wall + options.patience)
        chain.confirm(calls.map { ($0, .unusable(fault)) }, of: key, in: window, as: newID())
    }

    private mutating func newID() -> ProposalID {
        lastProposal += 1
        return ProposalID(host: host, number: lastProposal)
    }
}
