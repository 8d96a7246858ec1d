import CountdownCore
import Varlink

/// Telling what has happened to those who follow it, once it is stored.
extension Daemon {
    /// Tells the changes of the turn.
    func tell(_ turn: Turn) {
        for change in turn.changes.steps {
            answerWaiting(for: change, at: turn.now)
            board(change.countdown.key, at: turn.now)
            guard !watchers.isEmpty else { continue }
            var event: [UInt8]?
            watchers.forEachHearer(of: change.countdown.key) { id in
                guard let peer = peers[UInt64(id.number)] else { return }
                let bytes = event ?? translation.event(.change(change), at: turn.now)
                event = bytes
                counters.events += 1
                tell(peer, bytes, at: turn.now)
            }
        }
    }

    /// Tells the ticks that are due; a peer that has not read what it was told gets none.
    func tellTicks(_ turn: inout Turn) {
        watchers.tick(at: turn.now, in: timetable, limit: &turn.ticksLeft) { tick, hearers in
            let told = Told.tick(timetable[tick.slot].key, remaining: tick.remaining)
            var event: [UInt8]?
            for id in hearers {
                guard let peer = peers[UInt64(id.number)], !peer.isBlocked else { continue }
                let bytes = event ?? translation.event(told, at: turn.now)
                event = bytes
                counters.ticks += 1
                tell(peer, bytes, at: turn.now)
            }
        }
        if turn.ticksLeft == 0 { turn.isCutShort = true }
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

    /// Puts an event into the page of one watcher.
    func tell(_ peer: Peer, _ event: [UInt8], at now: Now) {
        guard peer.condition == .open else { return }
        touch(peer)
        peer.tell(event, at: now, pageBytes: policy.pageBytes)
        if peer.events.isEmpty { notePage(for: peer, at: now) }
    }

    /// Lets a countdown that has changed tick where it ticks now.
    private func board(_ key: Key, at now: Now) {
        guard watchers.wantsTicks, let slot = timetable.slot(under: key) else { return }
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
            peer.session.reply(translation.reply(change.countdown, at: now))
            touch(peer)
            enqueueCalls(of: peer)
        }
    }
}
