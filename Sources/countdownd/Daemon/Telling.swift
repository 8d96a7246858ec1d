import CountdownCore
import Varlink

/// Telling what has happened to those who follow it, once it is stored.
extension Daemon {
    /// Tells the changes of the turn.
    func tell(_ turn: Turn) {
        guard !watchers.isEmpty || !waiting.isEmpty else { return }
        var round = Round()
        var last: Key?
        for change in turn.changes.steps {
            let key = change.countdown.key
            answerWaiting(for: change, at: turn.now)
            board(key, at: turn.now)
            if last.map({ last in lend(&watchers) { $0.hearAlike(of: last, and: key) } }) != true {
                tellEvents(of: &round, at: turn.now)
                round.hearers = []
                lend(&watchers) { $0.forEachHearer(of: key) { round.hearers.append($0) } }
            }
            last = key
            guard !round.hearers.isEmpty else { continue }
            round.append(translation.event(.change(change), at: turn.now))
            if round.bytes.count >= policy.pageBytes { tellEvents(of: &round, at: turn.now) }
        }
        tellEvents(of: &round, at: turn.now)
    }

    private func tellEvents(of round: inout Round, at now: Now) {
        guard !round.isEmpty else { return }
        for id in round.hearers {
            guard let peer = peers[UInt64(id.number)] else { continue }
            counters.events += round.count
            tell(peer, round.bytes, at: now)
        }
        round.removeEvents()
    }

    /// Tells the ticks that are due; a peer that has not read what it was told gets none.
    func tellTicks(_ turn: inout Turn) {
        guard lend(&watchers, { $0.wantsTicks }) else { return }
        var round = Round()
        watchers.tick(at: turn.now, in: timetable, limit: &turn.ticksLeft) { tick, hearers in
            if hearers != round.hearers || round.bytes.count >= policy.pageBytes {
                tellTicks(of: &round, at: turn.now)
                round.hearers = hearers
            }
            let told = Told.tick(timetable[tick.slot].key, remaining: tick.remaining)
            round.append(translation.event(told, at: turn.now))
        }
        tellTicks(of: &round, at: turn.now)
        if turn.ticksLeft == 0 { turn.isCutShort = true }
    }

    private func tellTicks(of round: inout Round, at now: Now) {
        guard !round.isEmpty else { return }
        for id in round.hearers {
            guard let peer = peers[UInt64(id.number)], !peer.isBlocked else { continue }
            counters.ticks += round.count
            tell(peer, round.bytes, at: now)
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
                tell(peer, translation.event(.heartbeat(timetable.revision), at: turn.now), at: turn.now)
            }
            heartbeats.set(token, at: Heartbeats.next(after: peer.lastTold, every: interval, at: turn.now.boot))
        }
    }

    /// Puts events, with commas between them, into the page of one watcher.
    func tell(_ peer: Peer, _ round: [UInt8], at now: Now) {
        guard peer.condition == .open else { return }
        touch(peer)
        if peer.tell(round, at: now, pageBytes: policy.pageBytes) { notePage(for: peer, at: now) }
    }

    /// Lets a countdown that has changed tick where it ticks now.
    private func board(_ key: Key, at now: Now) {
        guard lend(&watchers, { $0.wantsTicks }), let slot = timetable.slot(under: key) else { return }
        watchers.board(slot, timetable[slot], at: now)
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
