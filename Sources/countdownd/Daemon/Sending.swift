import CountdownCore
import Varlink

/// The end of a turn: writing, and what becomes of the peers. And their queues.
extension Daemon {
    /// Writes to all peers that this turn had to do with, and closes those that are done.
    func sendAll() {
        let peers = touched
        touched = []
        for peer in peers {
            peer.isTouched = false
            peer.closeEvents()
            peer.send()
            account(for: peer)
            if isDone(peer) { close(peer) } else { goOn(with: peer) }
        }
        closeSlowest()
    }

    private func isDone(_ peer: Peer) -> Bool {
        switch peer.condition {
        case .gone: true
        case .closing: peer.session.unsent == 0
        case .open:
            peer.inputHasEnded && !peer.isBusy && !peer.isUnanswered && !peer.isHeldBack && peer.session.unsent == 0
        }
    }

    private func account(for peer: Peer) {
        unsentInAll += peer.session.unsent - peer.countedUnsent
        peer.countedUnsent = peer.session.unsent
        if peer.session.unsent > policy.unsentBytes { closeSlow(peer) }
    }

    /// Disconnects those who have left the most unread, until all together are within their limit.
    private func closeSlowest() {
        while unsentInAll > policy.unsentBytesInAll,
            let slowest = peers.all.max(by: { $0.countedUnsent < $1.countedUnsent })
        {
            closeSlow(slowest)
            close(slowest)
        }
    }

    private func closeSlow(_ peer: Peer) {
        let unread = peer.session.unsent
        let sentence = "disconnecting a peer that has left \(unread) bytes unread"
        log.write(.warning, sentence, fields: ["UNREAD_BYTES": "\(unread)"])
        counters.slowPeers += 1
        peer.condition = .gone
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
        peers.remove(peer)
        acceptInsteadOfGone()
    }

    /// Ends what a peer's call has going on, without an answer.
    func release(_ peer: Peer) {
        switch peer.activity {
        case .none:
            return
        case .waiting(let key, _):
            waiting[key]?.removeAll { $0 === peer }
            if waiting[key]?.isEmpty == true { waiting[key] = nil }
        case .listing(let listing):
            if case .walking(let walk) = listing.stage { timetable.closeWalk(walk) }
        case .watching(let watching):
            if let walk = watching.walk { timetable.closeWalk(walk) }
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
