import CountdownCore
import Varlink

/// Telling what has happened to those who follow it, once it is stored.
extension Daemon {
    /// Tells the changes of the turn.
    func tell(_ turn: Turn) {
        guard !watchers.isEmpty || !waiting.isEmpty else { return }
        // Nobody comes while this goes on.
        let (someoneWaits, hearAlike) = (!waiting.isEmpty, watchers.allKeysHaveSameWatchers)
        let wantsTicks = watchers.wantsTicks
        var round = takeRound()
        var last: Key?
        for change in turn.changes.steps {
            if someoneWaits { answerWaiting(for: change, at: turn.now) }
            if wantsTicks { board(change.countdown.key, at: turn.now) }
            if last == nil || !hearAlike {
                findHearers(of: change.countdown.key, after: &last, for: &round, at: turn.now)
            }
            guard !round.hearers.isEmpty else { continue }
            round.append { translation.write(change, at: turn.now, into: &$0) }
            if round.bytes >= policy.pageBytes { tellEvents(of: &round, at: turn.now) }
        }
        tellEvents(of: &round, at: turn.now)
        giveBack(round)
    }

    /// Lets the round be one for those who hear of a key, unless they are those of the last one.
    private func findHearers(of key: Key, after last: inout Key?, for round: inout Round, at now: Now) {
        if let last, watchers.haveSameWatchers(last, key) { return }
        tellEvents(of: &round, at: now)
        round.hearers.removeAll(keepingCapacity: true)
        watchers.forEachWatcher(of: key) { round.hearers.append($0) }
        last = key
    }

    /// A round without events, with the memory of the last one.
    private func takeRound() -> Round {
        var taken = Round()
        swap(&taken, &round)
        return taken
    }

    private func giveBack(_ taken: consuming Round) { round = taken }

    private func tellEvents(of round: inout Round, at now: Now) {
        guard !round.isEmpty else { return }
        for id in round.hearers {
            guard let peer = peers[UInt64(id.number)] else { continue }
            counters.events += round.count
            tell(peer, round.events, at: now)
        }
        round.removeEvents()
    }

    /// Tells the ticks that are due; a peer that has not read what it was told gets none.
    func tellTicks(_ turn: inout Turn) {
        guard watchers.wantsTicks else { return }
        var round = takeRound()
        round.hearers = []
        watchers.tick(at: turn.now, in: timetable, budget: &turn.ticksLeft) { tick, hearers in
            if hearers != round.hearers || round.bytes >= policy.pageBytes {
                tellTicks(of: &round, at: turn.now)
                round.hearers = hearers
            }
            round.append { translation.write(tick, into: &$0) }
        }
        tellTicks(of: &round, at: turn.now)
        giveBack(round)
        if turn.ticksLeft == 0 { turn.isCutShort = true }
    }

    private func tellTicks(of round: inout Round, at now: Now) {
        guard !round.isEmpty else { return }
        for id in round.hearers {
            guard let peer = peers[UInt64(id.number)], !peer.isBlocked else { continue }
            counters.ticks += round.count
            tell(peer, round.events, at: now)
        }
        round.removeEvents()
    }

    /// Tells those who asked for it and have heard nothing for as long that the daemon is there.
    func tellHeartbeats(_ turn: Turn) {
        while let token = heartbeats.takeDue(at: turn.now.boot) {
            guard let peer = peers[token], case .watching(let watching) = peer.activity,
                let interval = watching.question.heartbeat
            else { continue }
            if peer.lastTold + interval <= turn.now.boot, watching.isOpen, !peer.isBlocked {
                tell(peer, .heartbeat(timetable.revision), at: turn.now)
            }
            heartbeats.set(token, at: Heartbeats.next(after: peer.lastTold, every: interval, at: turn.now.boot))
        }
    }

    /// Tells one watcher alone.
    func tell(_ peer: Peer, _ told: Told, at now: Now) {
        var round = takeRound()
        round.append { translation.write(told, at: now, into: &$0) }
        tell(peer, round.events, at: now)
        round.removeEvents()
        giveBack(round)
    }

    /// Puts events, with commas between them, into the page of one watcher.
    private func tell(_ peer: Peer, _ events: JSONWriter, at now: Now) {
        guard peer.condition == .open else { return }
        touch(peer)
        if peer.tell(events, at: now, pageBytes: policy.pageBytes) { notePage(for: peer, at: now) }
    }

    /// Lets a countdown that has changed tick where it ticks now.
    private func board(_ key: Key, at now: Now) {
        guard let slot = timetable.slot(under: key) else { return }
        watchers.schedule(slot, timetable[slot], at: now)
    }

    private func answerWaiting(for change: Change, at now: Now) {
        guard !change.countdown.isLive, let peers = waiting.removeValue(forKey: change.countdown.key) else { return }
        for peer in peers {
            guard case .waiting(let key, let revision) = peer.activity else { continue }
            // Who has come after the ending waits for that of the next countdown under the key.
            guard revision < change.countdown.revision else {
                waiting[key, default: []].append(peer)
                continue
            }
            peer.activity = .none
            peer.session.reply { translation.write(change.countdown, at: now, into: &$0) }
            touch(peer)
            enqueueCalls(of: peer)
        }
    }
}
