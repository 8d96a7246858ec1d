import CountdownCore

/// The middle of a turn: what has come due, and the store.
extension Daemon {
    /// Ends what is due: time cannot be refused.
    func endDue(_ turn: inout Turn) {
        while turn.endingsLeft > 0, let change = timetable.expireNext(at: turn.now) {
            turn.endingsLeft -= 1
            turn.changes.steps.append(change)
            counters.endings += 1
        }
        if timetable.isDue(at: turn.now) { turn.isCutShort = true }
    }

    /// Stores the turn. Where that fails, the calls' changes are taken back and the calls answered anew; the endings
    /// stay.
    func storeOrTakeBack(_ turn: inout Turn) {
        guard !turn.changes.isEmpty else { return }
        do throws(StoreFailure) {
            try storage.commit(turn.changes, at: turn.now)
        } catch {
            turn.failure = error
            turn.changes.steps.removeLast(turn.applied.count)
            for applied in turn.applied.reversed() { timetable.undo(applied) }
            turn.applied = []
            storage.keep(turn.changes)
            answerAgain(&turn)
        }
        counters.changes += turn.changes.steps.count
    }

    /// Tries again what could not be stored, or the store that could not be opened, where it is time.
    ///
    /// - Returns: the instant, as the clocks are held from now on.
    func retryStorage(at now: Now) -> Now {
        storage.retry(at: now)
        guard !storage.isOpen, storage.isTimeToTry(at: now) else { return now }
        guard let opened = storage.openAtLast(at: now) else { return now }
        let offset = opened.offset ?? now.offset
        takeIn(opened)
        return Now(boot: now.boot, offset: offset)
    }

    /// Goes on with what the store held, where it could not be opened at first.
    ///
    /// Nothing was changed until then. Whoever was told that there is nothing, at revision 0, comes back, and is told that
    /// nobody can go on from there.
    private func takeIn(_ opened: consuming OpenedStore) {
        for peer in peers.all where peer.isBusy {
            release(peer)
            peer.condition = .gone
            touch(peer)
        }
        if let offset = opened.offset { clocks.hold(offset) }
        stepRevision = opened.stepRevision
        timetable = opened.timetable
        // The opening has taken note of it, with a revision that there was before.
        clockStep = nil
    }

    /// Lets go of endings that are too many or too old.
    func trim(_ turn: inout Turn) {
        storage.drop(timetable.compact(at: turn.now, budget: &turn.compactionsLeft))
        if turn.compactionsLeft == 0 { turn.isCutShort = true }
    }
}
