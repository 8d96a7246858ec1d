import CountdownCore
import Varlink

/// The end of a turn: writing, and what becomes of the peers. And their queues.
extension Daemon {
    /// Writes to all peers that this turn had to do with, and closes those that are done.
    func sendAll(at now: Now) {
        for peer in touched {
            peer.endArray()
            send(to: peer, at: now)
        }
        let peers = touched
        touched = []
        touched.reserveCapacity(peers.count)
        for peer in peers {
            peer.isTouched = false
            count(receivedOf: peer)
            if isDone(peer) { close(peer) } else { goOn(with: peer) }
        }
    }

    /// Takes note of a page that was put into a reply, and writes, where there are some: a turn may have more to tell than
    /// may be waiting for anybody.
    func notePage(for peer: Peer, at now: Now) {
        if peer.levels.unsent > min(4 * policy.pageBytes, policy.unsentBytes) {
            send(to: peer, goingOn: true, at: now)
        } else {
            count(unsentOf: peer)
            disconnectSlowest(at: now)
        }
    }

    private func send(to peer: Peer, goingOn: Bool = false, at now: Now) {
        peer.send(goingOn: goingOn)
        count(unsentOf: peer)
        if peer.levels.unsent > policy.unsentBytes { disconnectSlow(peer, at: now) }
        disconnectSlowest(at: now)
    }

    private func isDone(_ peer: Peer) -> Bool {
        switch peer.condition {
        case .gone: true
        case .closing: peer.levels.unsent == 0
        case .open:
            peer.inputHasEnded && !peer.isBusy && !peer.isUnanswered && !peer.isHeldBack && peer.levels.unsent == 0
        }
    }

    func count(unsentOf peer: Peer) {
        unsentInAll += peer.levels.unsent - peer.countedUnsent
        peer.countedUnsent = peer.levels.unsent
        counters.mostUnsentBytes = max(counters.mostUnsentBytes, unsentInAll)
    }

    /// Disconnects those who have left the most unread, until all together are within their limit.
    private func disconnectSlowest(at now: Now) {
        while unsentInAll > policy.unsentBytesInAll,
            let slowest = peers.all.max(by: { $0.countedUnsent < $1.countedUnsent })
        {
            let unsent = slowest.countedUnsent
            slowest.send()
            count(unsentOf: slowest)
            if slowest.countedUnsent == unsent { disconnectSlow(slowest, at: now) }
        }
    }

    /// Gives a peer up; it is closed at the end of the turn.
    private func disconnectSlow(_ peer: Peer, at now: Now) {
        let unread = peer.levels.unsent
        let sentence = "disconnecting a peer that has left \(unread) bytes unread"
        complain(.slow, sentence, fields: ["UNREAD_BYTES": "\(unread)"], at: now)
        counters.slowPeers += 1
        peer.abandon()
        count(unsentOf: peer)
        touch(peer)
    }

    /// Lets a peer's calls and walks go on that rested until it had read, and tells the poller what to look out for.
    private func goOn(with peer: Peer) {
        if peer.isHeldBack, !peer.isBlocked {
            peer.isHeldBack = false
            if peer.isBusy { enqueueWalk(of: peer) } else { enqueueCalls(of: peer) }
        }
        let (reading, writing) = (peer.wantsInput(policy), peer.isBlocked)
        guard (reading, writing) != (peer.isReading, peer.isWriting) else { return }
        do throws(SystemFailure) {
            try poller.set(peer.descriptor, token: peer.token, reading: reading, writing: writing)
            (peer.isReading, peer.isWriting) = (reading, writing)
        } catch {
            log.write(.error, "\(error)")
            close(peer)
        }
    }

    private func close(_ peer: Peer) {
        release(peer)
        unsentInAll -= peer.countedUnsent
        peer.countedUnsent = 0
        peer.condition = .gone
        count(receivedOf: peer)
        peers.remove(peer)
        acceptInsteadOfGone()
    }

    /// Ends what a peer's call has going on, without an answer.
    func release(_ peer: Peer) {
        selectionsInAll -= peer.countedSelection
        peer.countedSelection = 0
        switch peer.activity {
        case .none:
            return
        case .waiting(let key, _):
            waiting[key]?.removeAll { $0 === peer }
            if waiting[key]?.isEmpty == true { waiting[key] = nil }
        case .listing(let listing):
            if case .walking(let walk) = listing.stage { timetable.closeScan(walk) }
        case .watching(let watching):
            if let walk = watching.walk { timetable.closeScan(walk) }
            watchers.remove(peer.watcher)
            heartbeats.remove(peer.token)
        }
        peer.activity = .none
    }

    // MARK: Queues

    /// Remembers that something was written for a peer in this turn, or that something became of it.
    func touch(_ peer: Peer) {
        guard !peer.isTouched else { return }
        peer.isTouched = true
        touched.append(peer)
    }

    func enqueueCalls(of peer: Peer) {
        guard !peer.isUnanswered else { return }
        peer.isUnanswered = true
        unanswered.append(peer)
    }

    func enqueueWalk(of peer: Peer) {
        guard !peer.isWalking else { return }
        peer.isWalking = true
        walking.append(peer)
    }
}
