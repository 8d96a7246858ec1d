import CountdownCore
import Varlink

/// What is told portion by portion, as fast as a peer reads.
extension Daemon {
    func walkOn(_ turn: inout Turn) {
        let queue = walking
        walking = []
        for (index, peer) in queue.enumerated() {
            guard turn.entriesLeft > 0 else {
                // Before those who had their portion, so that nobody waits for ever.
                walking = queue[index...] + walking
                break
            }
            peer.isWalking = false
            guard peer.condition == .open else { continue }
            guard !peer.isBlocked, peer.levels.unsent <= policy.pageBytes else {
                peer.isHeldBack = true
                continue
            }
            switch peer.activity {
            case .none, .waiting: break
            case .listing(let listing): walkOn(listing, of: peer, &turn)
            case .watching(let watching): walkOn(watching, of: peer, &turn)
            }
        }
    }

    /// Carries a walk on by what the turn may still do of it, which is less where each key is matched against patterns.
    func carryOn(
        _ walk: ScanID,
        for selection: Selection,
        _ turn: inout Turn,
        meet: (borrowing Timetable, Slot) -> Bool
    ) -> Scan.Progress {
        let portion = max(1, turn.entriesLeft / selection.steps)
        var left = portion
        let progress = timetable.scan(walk, budget: &left, visit: meet)
        turn.entriesLeft = left == 0 ? 0 : turn.entriesLeft - (portion - left) * selection.steps
        return progress
    }
}
