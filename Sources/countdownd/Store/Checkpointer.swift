import Dispatch
import Synchronization

/// Keeps the write-ahead log short without holding up the turns.
///
/// The log is copied into the database by a connection of its own in the background. It begins anew only where all of it
/// has been copied, and while changes come more of them are added than the copy takes: so the last few frames are copied,
/// and brought onto the disk, by the daemon itself. That takes it a millisecond or two, and is done when there is nothing
/// else to do; where there always is, once the log is long.
final class Checkpointer: Sendable {
    /// What is to be done about the log.
    enum Advice {
        case rest
        case startInBackground
        /// Few frames are left, or far too many: the caller's connection has to copy them.
        case finish
        /// The copy in the background has failed.
        case pause
    }

    /// A frame is a page of 1 KiB: each 4 MiB are copied.
    static let worthCopying = 4_096
    /// So few take less than a millisecond.
    private static let few = 128
    /// 32 MiB: the last few are copied though there is something else to do.
    private static let many = 32 * 1_024
    /// 56 MiB: where the background does not keep up, the log is bounded all the same.
    private static let tooMany = 56 * 1_024

    private enum State {
        static let failed = -3
        static let resting = -2
        static let working = -1
    }

    private let path: String
    private let queue = DispatchQueue(label: "countdownd.checkpoint", qos: .utility)
    /// One of `State`, or how many frames of the log the background has copied.
    private let state = Atomic<Int>(State.resting)

    /// - Parameter path: of the database.
    init(path: String) {
        self.path = path
    }

    /// What is to be done about a log of so many frames, after a commit, or in a pause between turns.
    func advice(frames: Int, inPause: Bool) -> Advice {
        if frames >= Self.tooMany { return .finish }
        let state = state.load(ordering: .acquiring)
        switch state {
        case State.working: return .rest
        case State.failed: return .pause
        case 0...frames: return advice(frames: frames, left: frames - state, inPause: inPause)
        // Nothing has been copied, or the log has begun anew since.
        default: return frames >= Self.worthCopying ? .startInBackground : .rest
        }
    }

    private func advice(frames: Int, left: Int, inPause: Bool) -> Advice {
        let isTime = inPause || frames >= Self.many
        if isTime, left <= Self.few { return .finish }
        return isTime || left >= Self.worthCopying ? .startInBackground : .rest
    }

    /// Copies in the background; `advice` tells when it is done.
    func start() {
        state.store(State.working, ordering: .releasing)
        queue.async { [self] in
            state.store((try? copy()) ?? State.failed, ordering: .releasing)
        }
    }

    /// Copies, and brings what was copied onto the disk, as who copies the rest would wait for all of it.
    ///
    /// - Returns: how many frames of the log have been copied.
    private func copy() throws(SQLiteFailure) -> Int {
        let database = try Database(path: path, busyMilliseconds: 0)
        let copied = try database.checkpoint().copied
        try database.sync()
        return copied
    }

    /// Takes note that the caller has copied the rest, or that a copy has failed.
    func hasFinished() {
        state.store(State.resting, ordering: .releasing)
    }
}
