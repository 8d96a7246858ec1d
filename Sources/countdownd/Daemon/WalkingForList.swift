import CountdownCore
import Varlink

/// `List`: answering page by page.
extension Daemon {
    func beginList(_ question: ListQuestion, _ call: Call, of peer: Peer) {
        guard keep(question.selection, for: peer) else { return }
        peer.activity = .listing(Listing(question: question, takesPages: call.more))
        enqueueWalk(of: peer)
    }

    /// Finds and delivers as much as fits into this turn, one page at most of an answer whose moment is over.
    func walkOn(_ listing: Listing, of peer: Peer, _ turn: inout Turn) {
        var listing = listing
        if case .unopened = listing.stage { open(&listing, of: peer, &turn) }
        if case .walking(let walk) = listing.stage, peer.isBusy { carryOn(walk, &listing, of: peer, &turn) }
        if case .delivering(let answer, let next, let now) = listing.stage, peer.isBusy {
            deliver(answer, from: next, at: now, &listing, of: peer)
        }
        guard peer.isBusy else { return }
        peer.activity = .listing(listing)
        enqueueWalk(of: peer)
    }

    private func open(_ listing: inout Listing, of peer: Peer, _ turn: inout Turn) {
        let question = listing.question
        if question.selection.hasKeysAlone {
            turn.entriesLeft -= question.selection.keys.count
            return answer(with: countdownsOfKeys(in: listing, at: turn.now), &listing, of: peer, at: turn.now)
        }
        if let count = question.soonest {
            let capacity = SoonestCandidates.firstCapacity(for: count)
            return findSoonest(count, capacity: capacity, &listing, of: peer, &turn)
        }
        listing.stage = .walking(openScan(for: question.states))
    }

    private func openScan(for states: ListQuestion.States) -> ScanID {
        timetable.openScan(
            live: states.isDisjoint(with: .live) ? .nowhere : .oldest,
            ended: states.isDisjoint(with: .ended) ? .nowhere : .oldest
        )
    }

    /// The countdowns of a few keys, in the order of the answer.
    private func countdownsOfKeys(in listing: Listing, at now: Now) -> [KeyedCountdown] {
        let slots = listing.question.selection.keys.compactMap { timetable.slot(under: $0) }
        let countdowns = slots.map { timetable[$0] }
        guard let count = listing.question.soonest else {
            return countdowns.filter(listing.contains).sorted { $0.revision < $1.revision }
        }
        var candidates = SoonestCandidates(count: count, capacity: max(count, slots.count), at: now)
        for (slot, countdown) in zip(slots, countdowns) where listing.contains(countdown) {
            candidates.append(SoonestCandidates.Candidate(countdown, at: slot, now)) { _ in true }
        }
        return candidates.soonest { _ in true }?.map { timetable[$0] } ?? []
    }

    // MARK: The soonest

    /// Answers at once if the running countdowns that end first are among the first of all; else begins a walk.
    private func findSoonest(
        _ count: Int,
        capacity: Int,
        _ listing: inout Listing,
        of peer: Peer,
        _ turn: inout Turn
    ) {
        if let answer = soonestRunning(count, listing, &turn) {
            return self.answer(with: answer, &listing, of: peer, at: turn.now)
        }
        guard keepMore(SoonestCandidates.bytes(capacity: capacity), for: peer) else { return }
        listing.candidates = SoonestCandidates(count: count, capacity: capacity, at: turn.now)
        listing.stage = .walking(openScan(for: listing.question.states))
    }

    /// The soonest running countdowns in the order of their deadlines; nil if that is not the whole answer, or if more would
    /// have to be looked at than a turn allows.
    private func soonestRunning(_ count: Int, _ listing: Listing, _ turn: inout Turn) -> [KeyedCountdown]? {
        let states = listing.question.states
        guard count > 0 else { return [] }
        guard states.contains(.running), states.isDisjoint(with: .ended) else { return nil }
        // To find the next deadline takes about as long as to walk past three entries.
        let steps = 3 + listing.question.selection.steps
        let portion = max(1, turn.entriesLeft / steps)
        var left = portion
        let (slots, isAll) = timetable.soonestRunning(count, at: turn.now, budget: &left) { timetable, slot in
            listing.question.selection.contains(timetable.key(at: slot))
        }
        turn.entriesLeft -= (portion - left) * steps
        let pausedMayFollow = states.contains(.paused) && timetable.pausedCount > 0
        guard slots.count == count || isAll && !pausedMayFollow else { return nil }
        return slots.map { timetable[$0] }
    }

    // MARK: Walking

    private func carryOn(_ walk: ScanID, _ listing: inout Listing, of peer: Peer, _ turn: inout Turn) {
        let now = turn.now
        let pageBytes = policy.pageBytes
        let progress = carryOn(walk, for: listing.question.selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            guard listing.contains(countdown) else { return true }
            guard listing.candidates == nil else {
                listing.candidates?.append(SoonestCandidates.Candidate(countdown, at: slot, now)) {
                    timetable.revision(at: $0.slot) == $0.revision
                }
                return true
            }
            listing.find(countdown, at: slot)
            return listing.foundBytes < pageBytes
        }
        let isAtEnd = progress != .more
        if isAtEnd { timetable.closeScan(walk) }
        if listing.candidates == nil {
            guard isAtEnd || listing.foundBytes >= pageBytes else { return }
            deliverFound(&listing, isLast: isAtEnd, of: peer, at: now)
        } else if isAtEnd {
            answerWithCandidates(&listing, of: peer, &turn)
        }
    }

    private func answerWithCandidates(_ listing: inout Listing, of peer: Peer, _ turn: inout Turn) {
        guard var candidates = listing.candidates.take() else { return }
        let isComparable = candidates.offset == turn.now.offset
        let soonest = candidates.soonest { timetable.isKnown($0.slot, with: $0.revision) }
        if isComparable, let soonest {
            return answer(with: soonest.map { timetable[$0] }, &listing, of: peer, at: turn.now)
        }
        // Too many of the soonest have changed, or the system clock was set.
        let capacity = isComparable ? 2 * candidates.capacity : candidates.capacity
        findSoonest(candidates.count, capacity: capacity, &listing, of: peer, &turn)
    }

    /// Writes what a walk has found, as it is now, into pages; what fills no page waits, unless nothing follows.
    private func deliverFound(_ listing: inout Listing, isLast: Bool, of peer: Peer, at now: Now) {
        var page = ElementPage()
        var delivered = 0
        for (index, found) in listing.found.enumerated() {
            // A countdown that has changed is met again further on. An end whose key has another countdown by now is
            // history: `Watch` delivers it, `List` does not.
            guard timetable.isKnown(found.slot, with: found.countdown.revision) else { continue }
            page.append(translation.element(found.countdown, at: now))
            guard page.count >= policy.pageBytes else { continue }
            reply(with: &page, listing, of: peer)
            guard peer.isBusy else { return }
            delivered = index + 1
        }
        if isLast { return finish(with: &page, of: peer) }
        listing.found.removeFirst(delivered)
        listing.foundBytes = page.count
    }

    // MARK: Replies

    /// Answers with countdowns of this moment.
    private func answer(
        with countdowns: [KeyedCountdown],
        _ listing: inout Listing,
        of peer: Peer,
        at now: Now
    ) {
        listing.stage = .delivering(countdowns, next: 0, at: now)
    }

    /// Delivers the next page of an answer; the moment of the answer is that of its first page.
    private func deliver(
        _ answer: [KeyedCountdown],
        from next: Int,
        at moment: Now,
        _ listing: inout Listing,
        of peer: Peer
    ) {
        var page = ElementPage()
        for index in next..<answer.count {
            page.append(translation.element(answer[index], at: moment))
            guard page.count >= policy.pageBytes else { continue }
            reply(with: &page, listing, of: peer)
            guard peer.isBusy, next > 0 || keepMore(bytes(of: answer), for: peer) else { return }
            listing.stage = .delivering(answer, next: index + 1, at: moment)
            return
        }
        finish(with: &page, of: peer)
    }

    /// The bytes of countdowns that are kept until the client has read their page.
    private func bytes(of countdowns: [KeyedCountdown]) -> Int {
        countdowns.reduce(0) { $0 + MemoryLayout<KeyedCountdown>.stride + $1.textBytes }
    }

    /// Puts a page that is full into a reply; a caller that takes one reply alone is told to ask for more.
    private func reply(with page: inout ElementPage, _ listing: Listing, of peer: Peer) {
        touch(peer)
        guard listing.takesPages else {
            release(peer)
            peer.session.fail(ServiceError.expectedMore)
            return enqueueCalls(of: peer)
        }
        let bytes = page.take()
        peer.session.reply(continues: true) { $0.member("countdowns", raw: bytes) }
    }

    private func finish(with page: inout ElementPage, of peer: Peer) {
        let bytes = page.take()
        release(peer)
        touch(peer)
        peer.session.reply { $0.member("countdowns", raw: bytes) }
        enqueueCalls(of: peer)
    }
}
