import Dispatch
import Synchronization
import System

/// How far the work that can wait may grow, in frames of the log and in rows.
struct StoreThresholds {
    /// A frame is a page of 1 KiB, so a copy starts every 4 MiB.
    var worthCopying = 4_096
    /// This many frames take less than a millisecond.
    var few = 128
    /// This many take two or three. In a flood of changes, about as many arrive while the background copies and syncs.
    var fewInFlood = 1_024
    /// 32 MiB: from here on the daemon copies the last few frames even if it is not idle.
    var many = 32 * 1_024
    /// 56 MiB: if the background cannot keep up, the daemon copies all frames, so that the log is bounded.
    var tooMany = 56 * 1_024
    /// The most dead rows that may be left: 10 MiB of the file if labels are short, 140 MiB with labels of 1 KiB, and a tenth of
    /// a second of the next start.
    var deadRows = 131_072
}

/// Keeps the write-ahead log short without delaying turns.
///
/// A connection in the background copies the log into the database. The log restarts only after all of it has been copied,
/// and while changes arrive, frames are added during a copy. So the daemon itself copies and syncs the last few frames, in a
/// millisecond or two: when it is idle or, if it never is, when the log has become long.
final class Checkpointer: Sendable {
    /// The next step for the log.
    enum Advice {
        case nothing
        case startInBackground
        /// Few frames are left, or far too many: the daemon's own connection has to copy them.
        case finish
        /// The copy in the background has failed.
        case pause
    }

    private enum Marker {
        static let failed = -3
        static let idle = -2
        static let working = -1
    }

    private let path: String
    /// The database. If another file has its path, nothing may be copied into that.
    private let file: FileIdentity?
    private let thresholds: StoreThresholds
    let queue = DispatchQueue(label: "countdownd.checkpoint", qos: .utility)
    /// One of `Marker`, or the number of frames that the background has copied.
    private let state = Atomic<Int>(Marker.idle)

    /// - Parameters:
    ///   - path: of the database.
    ///   - thresholds: the lengths of the log from which on it is copied.
    init(path: String, thresholds: StoreThresholds) {
        self.path = path
        self.thresholds = thresholds
        file = FileIdentity(of: path)
    }

    /// The next step for a log with this many frames, after a commit or when the daemon is idle.
    func advice(frames: Int, whenIdle: Bool) -> Advice {
        if frames >= thresholds.tooMany { return .finish }
        let state = state.load(ordering: .acquiring)
        switch state {
        case Marker.working: return .nothing
        case Marker.failed: return .pause
        case 0...frames: return advice(frames: frames, left: frames - state, whenIdle: whenIdle)
        // Nothing has been copied, or the log has restarted since.
        default: return frames >= thresholds.worthCopying ? .startInBackground : .nothing
        }
    }

    private func advice(frames: Int, left: Int, whenIdle: Bool) -> Advice {
        let isTime = whenIdle || frames >= thresholds.many
        if isTime, left <= (whenIdle ? thresholds.few : thresholds.fewInFlood) { return .finish }
        return isTime || left >= thresholds.worthCopying ? .startInBackground : .nothing
    }

    /// Whether the background may be writing to the database.
    var isCopying: Bool { state.load(ordering: .acquiring) == Marker.working }

    /// Starts a copy in the background; `advice` shows when it has finished.
    func start() {
        state.store(Marker.working, ordering: .releasing)
        queue.async { [self] in
            state.store((try? copy()) ?? Marker.failed, ordering: .releasing)
        }
    }

    /// Copies the log and syncs the database, so that the connection that copies the remaining frames does not wait for that.
    ///
    /// - Returns: the number of frames that have been copied.
    private func copy() throws(SQLiteFailure) -> Int {
        guard let file, FileIdentity(of: path) == file else { throw .corrupt("the database was replaced") }
        let database = try Database(path: path, busyMilliseconds: 0)
        let (frames, copied) = try database.checkpoint()
        // Another connection has a lock or reads an old state. The next copy starts after the log has grown, not at once.
        guard frames > 0, frames - copied < thresholds.worthCopying else { throw .busy }
        try database.sync()
        return copied
    }

    /// Notes that all frames have been copied, or that a failed copy was noticed.
    ///
    /// If the background is still copying, that stays known: it may be changing the size of the database.
    func hasFinished() {
        guard !isCopying else { return }
        state.store(Marker.idle, ordering: .releasing)
    }
}
