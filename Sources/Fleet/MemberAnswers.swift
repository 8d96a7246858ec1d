public import CountdownCore

/// Proposals and their answers.
extension Member {
    /// Takes proposals that are to be sent in one call to the engine, in this order.
    ///
    /// - Returns: none if nothing is to be sent.
    public mutating func takeProposals() -> [Proposal] {
        var proposals: [Proposal] = []
        var taken = 0
        for key in unsent {
            let steps = keys[key]?.flight?.steps ?? []
            guard proposals.count + steps.count <= options.proposalsAtOnce else { break }
            proposals += steps.map(\.proposal)
            taken += 1
        }
        unsent.removeFirst(taken)
        return proposals
    }

    /// Lets the proposals of a key be sent again.
    mutating func send(_ entry: inout KeyCalls, _ key: Key) {
        entry.flight?.isResent = true
        entry.flight?.resend = nil
        entry.flight?.openings = nil
        for index in entry.flight?.steps.indices ?? 0..<0 { entry.flight?.steps[index].answer = nil }
        unsettled.remove(key)
        unsent.append(key)
    }

    /// Receives the answers to proposals that were sent.
    ///
    /// - Parameters:
    ///   - answers: in the order of the proposals. If the connection was lost, all are `unknown`; missing ones count as that.
    ///   - proposals: as `takeProposals` has returned them.
    ///   - timetable: has the countdowns. Those that are due were expired.
    ///   - now: this instant.
    public mutating func receive(
        _ answers: [Answer],
        to proposals: [Proposal],
        _ timetable: inout Timetable,
        at now: Now
    ) {
        var answered: Set<Key> = []
        var passed: [Proposal] = []
        let wasAhead = !ahead.isEmpty
        for (index, proposal) in proposals.enumerated() {
            let key = proposal.key
            let answer = index < answers.count ? answers[index] : .unknown("the engine's answer is missing")
            // Also if the chain was given up: the stream may leave the change out.
            if let version = answer.version, let record = proposal.record {
                insertAhead(LogEntry(key: key, version: version, id: proposal.id, record: record))
                if let stored = cursor.stored, version <= stored.version { passed.append(proposal) }
            }
            guard let step = keys[key]?.flight?.steps.firstIndex(where: { $0.proposal.id == proposal.id }) else {
                continue
            }
            keys[key]?.flight?.steps[step].answer = answer
            answered.insert(key)
            switch answer {
            case .conflict(let entry): compare(entry, with: proposal, &timetable, at: now)
            case .won where keys[key]?.isLost == true: stopTakingBack(key)
            default: break
            }
        }
        if let newest = ahead.last?.version { awaitEntry(newest, at: now) }
        let applied = applyAhead(&timetable, at: now)
        if wasAhead { answered.formUnion(applied) }
        // The engine has gone back without a loss of the stream: the log had another change at this version.
        guard passed.allSatisfy(isInLog) else { return diverge(&timetable) }
        settle(answered, timetable, at: now)
    }

    /// Whether the log has a change that is in flight; true if it is not in flight.
    private func isInLog(_ proposal: Proposal) -> Bool {
        keys[proposal.key]?.flight?.steps.first { $0.proposal.id == proposal.id }?.isInLog ?? true
    }

    /// Applies the entries that are ahead, as far as the cursor has come to them.
    ///
    /// - Returns: the keys.
    mutating func applyAhead(_ timetable: inout Timetable, at now: Now) -> [Key] {
        guard cursor.isPrefix, !ahead.isEmpty else { return [] }
        var keys: [Key] = []
        var known = 0
        for (index, entry) in ahead.enumerated() {
            let verdict = cursor.verdict(on: entry, held: records[entry.key])
            if verdict == .gap { break }
            known += 1
            guard verdict == .apply else { continue }
            apply(entry, before: ahead[(index + 1)...], &timetable, at: now)
            keys.append(entry.key)
        }
        ahead.removeFirst(known)
        return keys
    }

    /// Looks whether a conflict shows that the log has another history.
    private mutating func compare(
        _ entry: LogEntry?,
        with proposal: Proposal,
        _ timetable: inout Timetable,
        at now: Now
    ) {
        guard cursor.isPrefix, let position = cursor.position else { return }
        let held = records[proposal.key]
        if let held, keys[proposal.key]?.isLost == true, held.id == proposal.expected {
            return takeBack(held, instead: entry, under: proposal.key, &timetable, at: now)
        }
        guard let entry else {
            guard let held, held.id == proposal.expected else { return }
            if held.fault == nil, case .live = held.basis(at: now.wall) { return diverge(&timetable) }
            // The countdown that was known before a record that cannot be used has ended.
            if held.fault != nil { output.changes += timetable.applyRemote(.absent(proposal.key), at: now) }
            return remove(proposal.key)
        }
        guard entry.version <= position.version else { return }
        if let held {
            guard held.version < entry.version || held.version == entry.version && held.id != entry.id else { return }
            return diverge(&timetable)
        }
        // An ended record that this host has given up, and the engine has not.
        let known = heldRecord(of: entry, instead: nil)
        if known.fault == nil, case .live = known.basis(at: now.wall) { return diverge(&timetable) }
        set(known, under: entry.key)
    }

    mutating func diverge(_ timetable: inout Timetable) {
        output.opening = cursor.diverge()
        beginSnapshot(&timetable)
    }

    mutating func fillGap(_ timetable: inout Timetable) {
        forgetAhead()
        guard let opening = cursor.fillGap() else { return }
        output.opening = opening
        if opening.after == nil { restartSnapshot(&timetable) }
    }

    /// Settles the chains of some keys, as far as the log has come. A chain waits for an entry of its own key.
    mutating func settle(_ keys: Set<Key>, _ timetable: borrowing Timetable, at now: Now) {
        for key in keys { settle(key, timetable, at: now) }
        if let awaited, let position = cursor.position, position.version >= awaited {
            (self.awaited, gapSince) = (nil, nil)
        }
    }

    /// Keeps an entry until the cursor has come to it.
    mutating func insertAhead(_ entry: LogEntry) {
        var index = ahead.endIndex
        while index > 0, ahead[index - 1].version > entry.version { index -= 1 }
        ahead.insert(entry, at: index)
    }

    /// Leaves it to the stream to report the entries that are ahead.
    mutating func forgetAhead() {
        ahead = []
        (awaited, gapSince) = (nil, nil)
    }

    /// Notes that an answer has shown an entry of the log to which the cursor must come.
    mutating func awaitEntry(_ version: LogVersion, at now: Now) {
        awaited = max(awaited ?? version, version)
        gapSince = gapSince ?? now.wall
    }

    /// Gives the calls of an answered chain their results, or lets them be decided again.
    private mutating func settle(_ key: Key, _ timetable: borrowing Timetable, at now: Now) {
        guard var entry = keys[key], var flight = entry.flight, flight.isAnswered else { return }
        if let version = flight.version, let position = cursor.position, position.version < version {
            let openings = flight.openings ?? cursor.openings
            // The log was read after the answers, and ends before them: the engine has lost the change.
            guard cursor.isLive, !cursor.isFillingGap, openings < cursor.openings else {
                flight.openings = openings
                entry.flight = flight
                keys[key] = entry
                unsettled.insert(key)
                return awaitEntry(version, at: now)
            }
        }
        if flight.isUnknown(needsAcknowledgements: options.needsAcknowledgements) {
            unsettled.insert(key)
            flight.resend = flight.resend ?? now.wall + .milliseconds(flight.isResent ? 100 : 10)
            entry.flight = flight
            keys[key] = entry
            return mark(key)
        }
        unsettled.remove(key)
        entry.flight = nil
        if entry.isLost { entry.notBefore = now.wall + .milliseconds(100) }
        settle(flight, &entry, key, timetable, at: now)
        if entry.isEmpty {
            keys[key] = nil
        } else {
            keys[key] = entry
            mark(key)
        }
    }

    private mutating func settle(
        _ flight: Flight,
        _ entry: inout KeyCalls,
        _ key: Key,
        _ timetable: borrowing Timetable,
        at now: Now
    ) {
        var returned: [MemberCall] = []
        var made: KeyedCountdown?
        // Whether the change counts on which the next step was decided; if not, the calls of that step fail alike.
        var hasBasis = true
        var failure: CallResult?
        for (index, step) in flight.steps.enumerated() {
            if step.isInLog {
                made = step.made ?? timetable.countdown(under: key)
                hasBasis = !options.needsAcknowledgements || flight.isAcknowledged(index)
                failure = hasBasis ? nil : .unknown("too few replicas have acknowledged the change")
                for (call, decision) in step.calls { finish(call, failure ?? result(of: decision, made)) }
                continue
            }
            for (call, decision) in step.calls {
                let result = hasBasis ? decision.result(on: made) : failure
                if let call = settle(call, step, result, &entry, at: now) { returned.append(call) }
            }
            if step.isChange, hasBasis { (hasBasis, failure) = (false, step.failure) }
            if let instant = retry(after: step, at: now) { entry.notBefore = max(instant, entry.notBefore ?? instant) }
        }
        entry.putBack(returned)
        pause(&entry, after: returned.map(\.conflicts).max() ?? 0, at: now)
    }

    /// Finishes a call whose change the log does not have, if the answer decides it.
    ///
    /// - Returns: the call if it must be decided again.
    private mutating func settle(
        _ call: MemberCall,
        _ step: Step,
        _ result: CallResult?,
        _ entry: inout KeyCalls,
        at now: Now
    ) -> MemberCall? {
        switch step.answer {
        case .unreachable where call.expires == nil:
            entry.notBefore = now.wall + .milliseconds(100)
            return call
        case .unreachable(let reason):
            finish(call, result.map { withoutEngine($0, reason) } ?? .notMade(reason))
        case .won, .unacknowledged:
            guard let result = result ?? (step.isChange ? step.failure : nil) else { return call }
            finish(call, result)
        // No proposal can name the ID of this record, so each would be a conflict.
        case .conflict(let found?) where found.id == .foreign: finish(call, .notMade(RecordFault.foreign.text))
        case .conflict(let found):
            var call = call
            call.conflicts += 1
            call.confirmed = found?.id
            return call
        case .early, .late, .unknown, nil: return call
        }
        return nil
    }

    /// From the fourth conflict on, a key pauses at random, up to 64 ms.
    private mutating func pause(_ entry: inout KeyCalls, after conflicts: Int, at now: Now) {
        guard conflicts > 3 else { return }
        let longest = Int64(2_000) << Int64(min(conflicts - 4, 5))
        let pause = Duration(microseconds: Int64.random(in: 0..<longest, using: &random))
        entry.notBefore = max(now.wall + pause, entry.notBefore ?? now.wall)
    }

    /// The result of a change that the log has.
    private func result(of decision: Step.Decision, _ made: KeyedCountdown?) -> CallResult {
        guard case .change(let kind) = decision, let made else { return .unknown("the change cannot be found") }
        return .changed(kind, made)
    }

    /// When a proposal that was not made may be made again; nil for at once.
    private func retry(after step: Step, at now: Now) -> WallInstant? {
        let soon = now.wall + .milliseconds(1)
        switch step.answer {
        case .early: return max(soon, step.proposal.window.notBefore ?? soon)
        // A change is decided again, and waits for the deadline then if it must.
        case .late: return step.isChange ? soon : step.deadline.map { max(soon, $0) } ?? soon
        case .unknown: return now.wall + .milliseconds(10)
        default: return nil
        }
    }
}
