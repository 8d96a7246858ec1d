import CountdownCore
import Varlink

/// What all peers together may take: of what they send, and of what they ask to be kept.
extension Daemon {
    // MARK: What was received

    func count(receivedOf peer: Peer) {
        let capacity = peer.condition == .gone ? 0 : peer.levels.inputCapacity
        receivedInAll += capacity - peer.countedReceived
        peer.countedReceived = capacity
    }

    /// Disconnects those who have filled the largest buffers, until all together are within their limit.
    func disconnectHoarders(at now: Now) {
        // Looked at first: the access to the peers would be checked before the loop.
        guard receivedInAll > policy.receivedBytesInAll else { return }
        while receivedInAll > policy.receivedBytesInAll,
            let largest = peers.all.max(by: { $0.countedReceived < $1.countedReceived })
        {
            let waiting = largest.levels.pendingInput
            let sentence = "disconnecting a peer that has sent \(waiting) bytes which are no whole call, or wait"
            complain(.hoarding, sentence, fields: ["WAITING_BYTES": "\(waiting)"], at: now)
            counters.hoardingPeers += 1
            largest.abandon()
            count(receivedOf: largest)
            count(unsentOf: largest)
            touch(largest)
        }
    }

    // MARK: What is asked for

    /// Counts the bytes of the keys and patterns of a watch or list until the peer is released.
    /// - Returns: whether there was room; if not, the call has failed.
    func keep(_ selection: Selection, for peer: Peer) -> Bool { count(selection.bytes, for: peer) }

    /// Counts bytes that a list in progress takes besides, until the peer is released.
    /// - Returns: whether there was room; if not, the list has failed.
    func keepMore(_ bytes: Int, for peer: Peer) -> Bool {
        if count(bytes, for: peer) { return true }
        release(peer)
        touch(peer)
        enqueueCalls(of: peer)
        return false
    }

    private func count(_ bytes: Int, for peer: Peer) -> Bool {
        guard bytes == 0 || selectionsInAll + bytes <= policy.selectionBytesInAll else {
            peer.session.fail(translation.limitReached("selectionBytesInAll", policy.selectionBytesInAll))
            return false
        }
        selectionsInAll += bytes
        peer.countedSelection += bytes
        return true
    }
}
