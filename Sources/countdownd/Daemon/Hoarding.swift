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

    /// Takes note of what it takes to keep what a watch or a list asks for, until the peer is released.
    /// - Returns: whether there was room.
    func keep(_ selection: Selection, soonest: Int = 0, for peer: Peer) -> Bool {
        let bytes = selection.bytes + 768 * soonest
        guard bytes == 0 || selectionsInAll + bytes <= policy.selectionBytesInAll else {
            peer.session.fail(translation.limitReached("selectionBytesInAll", policy.selectionBytesInAll))
            return false
        }
        selectionsInAll += bytes
        peer.countedSelection = bytes
        return true
    }
}
