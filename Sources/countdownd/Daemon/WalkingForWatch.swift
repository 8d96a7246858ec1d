import CountdownCore
import Varlink

/// `Watch`: telling what there is, in portions, before what changes.
extension Daemon {
    func beginWatch(_ question: WatchQuestion, of peer: Peer, at now: Now) {
        if let refusal = refusal(of: question) { return peer.session.fail(refusal) }
        guard keep(question.selection, for: peer) else { return }
        watchers.add(peer.watcher, following: question.selection, every: question.tick)
        peer.lastTold = now.boot
        if let interval = question.heartbeat { heartbeats.set(peer.token, at: now.boot + interval) }
        let missedStep = question.since.flatMap { since in stepRevision.map { since <= $0 } } ?? false
        peer.activity = .watching(
            Watching(question: question, revision: timetable.revision, tellsOlder: missedStep || question.since == nil)
        )
        enqueueWalk(of: peer)
    }

    private func refusal(of question: WatchQuestion) -> (any ReplyError)? {
        if let since = question.since, !timetable.canResume(after: since) {
            return translation.historyTrimmed(oldest: timetable.oldestRevision)
        }
        guard let tick = question.tick, !watchers.hasTicks(every: tick) else { return nil }
        if watchers.intervals >= policy.tickIntervals {
            return translation.limitReached("tickIntervals", policy.tickIntervals)
        }
        return watchers.hasFreePlaces ? nil : translation.limitReached("tickPlaces", policy.tickPlaces)
    }

    /// Tells a watcher the next portion.
    func walkOn(_ watching: Watching, of peer: Peer, _ turn: inout Turn) {
        var watching = watching
        switch watching.stage {
        case .unopened: openScan(&watching, of: peer, &turn)
        case .opening(let walk): carryOn(walk, &watching, of: peer, &turn)
        case .open: walkAfterStep(&watching, of: peer, &turn)
        case .walkingAfterStep(let walk):
            if watching.clockWasSet {
                timetable.closeScan(walk)
                walkAfterStep(&watching, of: peer, &turn)
            } else {
                carryOn(walk, &watching, of: peer, &turn)
            }
        }
        guard peer.isBusy else { return }
        peer.activity = .watching(watching)
        if watching.hasToWalk { enqueueWalk(of: peer) }
    }

    /// Begins to tell what there is.
    private func openScan(_ watching: inout Watching, of peer: Peer, _ turn: inout Turn) {
        let question = watching.question
        if question.since == nil { watching.base = timetable.revision }
        // A countdown that is not told has to tick all the same.
        let meetsOlder = watching.tellsOlder || question.tick != nil
        let live: Scan.Start
        if meetsOlder, let slots = slotsAtOnce(of: question.selection, &turn) {
            for slot in slots where timetable[slot].revision <= watching.base {
                meet(slot, timetable[slot], watching, of: peer, at: turn.now)
            }
            live = .after(watching.base)
        } else {
            live = meetsOlder ? .oldest : .after(watching.base)
        }
        let walk = timetable.openScan(live: live, ended: .after(watching.base))
        watching.stage = .opening(walk)
        carryOn(walk, &watching, of: peer, &turn)
    }

    /// Begins to tell what the set clock means for what was told.
    private func walkAfterStep(_ watching: inout Watching, of peer: Peer, _ turn: inout Turn) {
        watching.clockWasSet = false
        watching.base = timetable.revision
        watching.stage = .open
        if let slots = slotsAtOnce(of: watching.question.selection, &turn) {
            for slot in slots { tellSetClock(timetable[slot], to: peer, at: turn.now) }
        } else {
            watching.stage = .walkingAfterStep(timetable.openScan(live: .oldest, ended: .nowhere))
        }
    }

    private func carryOn(_ walk: ScanID, _ watching: inout Watching, of peer: Peer, _ turn: inout Turn) {
        let (now, isOpen, current) = (turn.now, watching.isOpen, watching)
        let progress = carryOn(walk, for: current.question.selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            if isOpen {
                guard countdown.revision <= current.base else { return false }
                if current.question.selection.contains(countdown.key) { tellSetClock(countdown, to: peer, at: now) }
            } else if current.question.selection.contains(countdown.key) {
                meet(slot, countdown, current, of: peer, at: now)
            }
            return peer.levels.unsent <= policy.pageBytes
        }
        switch progress {
        case .more where isOpen && peer.levels.unsent <= policy.pageBytes && turn.entriesLeft > 0: break
        case .more: return
        case .atEnd: if !isOpen { open(&watching, of: peer, at: now) }
        case .missed:
            timetable.closeScan(walk)
            return missEnds(watching, of: peer)
        }
        timetable.closeScan(walk)
        watching.stage = .open
    }

    private func open(_ watching: inout Watching, of peer: Peer, at now: Now) {
        tell(peer, .synced(timetable.revision), at: now)
        watchers.open(peer.watcher, at: now)
    }

    /// Ends a watch if so many ends came while it read the state that not all of them could be held for it.
    ///
    /// `HistoryTrimmed` advises a watch without `since`, so a watch that had none is told which limit it met.
    private func missEnds(_ watching: Watching, of peer: Peer) {
        release(peer)
        if watching.question.since == nil {
            peer.session.fail(translation.limitReached("endsHeldForWatches", policy.endsHeldForWatches))
        } else {
            peer.session.fail(translation.historyTrimmed(oldest: timetable.oldestRevision))
        }
        enqueueCalls(of: peer)
    }

    /// Tells a countdown that is met on the way to the end of what there is.
    private func meet(_ slot: Slot, _ countdown: KeyedCountdown, _ watching: Watching, of peer: Peer, at now: Now) {
        if countdown.isLive { watchers.schedule(slot, countdown, for: peer.watcher, at: now) }
        let isOlder = countdown.revision <= watching.base
        if !isOlder || watching.question.since == nil {
            counters.events += 1
            tell(peer, .met(countdown), at: now)
        } else if watching.tellsOlder {
            tellSetClock(countdown, to: peer, at: now)
        }
    }

    private func tellSetClock(_ countdown: KeyedCountdown, to peer: Peer, at now: Now) {
        counters.events += 1
        tell(peer, .clockWasSet(countdown), at: now)
    }

    /// The live countdowns of a few keys, in the order of their revisions; nil where they have to be walked for.
    private func slotsAtOnce(of selection: Selection, _ turn: inout Turn) -> [Slot]? {
        guard selection.hasKeysAlone else { return nil }
        turn.entriesLeft -= selection.keys.count
        return selection.keys.compactMap { timetable.slot(under: $0) }.filter { timetable[$0].isLive }
            .sorted { timetable[$0].revision < timetable[$1].revision }
    }
}
