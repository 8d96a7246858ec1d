import Dispatch
import Synchronization

/// Keeps the write-ahead log short without holding up the turns.
///
/// Most of it is copied into the database by a connection of its own in the background. But under load frames are added
/// faster than such a copy ends, and the log begins anew only where all have been copied: so the last few are copied by
/// the turn itself.
final class Checkpointer: Sendable {
    /// What is to be done after a commit.
    enum Advice {
        case rest
        case startInBackground
        /// Few frames are left, or far too many: the caller's connection has to copy them.
        case finish
        /// The copy in the background has failed.
        case pause
    }

    /// A frame is a page of 1 KiB: copying begins at 4 MiB.
    static let worthCopying = 4_096
    /// So few take less than a millisecond.
    private static let few = 512
    /// 56 MiB: where the background does not keep up, the log is bounded all the same.
    private static let tooMany = 56 * 1_024

    private enum State {
        static let failed = -3
        static let resting = -2
        static let working = -1
    }

    private let path: String
    private let queue = DispatchQueue(label: "countdownd.checkpoint", qos: .utility)
    /// One of `State`, or how many frames the background has left over.
    private let state = Atomic<Int>(State.resting)

    /// - Parameter path: of the database.
    init(path: String) {
        self.path = path
    }

    /// What is to be done about a log of so many frames.
    func advice(frames: Int) -> Advice {
        if frames >= Self.tooMany { return .finish }
        let state = state.load(ordering: .acquiring)
        switch state {
        case State.working: return .rest
        case State.failed: return .pause
        case State.resting: return frames >= Self.worthCopying ? .startInBackground : .rest
        default: return state <= Self.few ? .finish : .startInBackground
        }
    }

    /// Copies in the background; `advice` tells when it is done.
    func start() {
        state.store(State.working, ordering: .releasing)
        queue.async { [self] in
            let left = try? Database(path: path, busyMilliseconds: 0).checkpoint()
            state.store(left ?? State.failed, ordering: .releasing)
        }
    }

    /// Takes note that the caller has copied the rest, or that a copy has failed.
    func hasFinished() {
        state.store(State.resting, ordering: .releasing)
    }
}
