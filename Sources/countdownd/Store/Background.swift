import Dispatch
import Glibc
import Synchronization
import System

/// The thread that waits for the disk.
final class Background: Sendable {
    enum BaseState {
        case running, done, failed
    }

    private struct State {
        /// The turn up to which everything is on the disk.
        var synced: Int64?
        /// Whether that has not been told.
        var hasFailed = false
        /// Whether the log has a file that could not be synced, so that nothing later counts as synced.
        var hasUnsynced = false
        var base = BaseState.running
    }

    private let queue = DispatchQueue(label: "countdownd.log", qos: .utility)
    private let state = Mutex(State())

    var synced: Int64? { state.withLock { $0.synced } }
    var base: BaseState { state.withLock { $0.base } }

    /// Whether a sync has failed since the last call: it must not be tried again on that file, since the kernel may have dropped what
    /// could not be written.
    func takeFailure() -> Bool {
        state.withLock { state in
            defer { state.hasFailed = false }
            return state.hasFailed
        }
    }

    /// Notes that a base replaces every file that could not be synced.
    func forgetFailure() { state.withLock { $0.hasUnsynced = false } }

    /// Syncs files, and the names of their folder.
    ///
    /// - Parameters:
    ///   - files: of which each is synced.
    ///   - turn: the turn up to which everything is on the disk then; nil if that does not change.
    ///   - folder: of the files.
    func sync(_ files: [LogFile], upTo turn: Int64?, folder: StoreFolder) {
        let folder = folder.descriptor.number
        queue.async { [self] in
            let isSynced = files.allSatisfy { (try? $0.sync()) != nil } && fsync(folder) == 0
            state.withLock { state in
                if !isSynced { (state.hasFailed, state.hasUnsynced) = (true, true) }
                if !state.hasUnsynced, let turn { state.synced = turn }
            }
        }
    }

    /// Syncs a base and what belongs to it; `base` says when that is done.
    func finish(_ files: [LogFile]) {
        state.withLock { $0.base = .running }
        queue.async { [self] in
            let isSynced = files.allSatisfy { (try? $0.sync()) != nil }
            state.withLock { $0.base = isSynced ? .done : .failed }
        }
    }

    /// Removes files, once the name of what replaces them is on the disk.
    func remove(_ names: [String], from folder: StoreFolder) {
        let folder = folder.descriptor.number
        queue.async {
            guard fsync(folder) == 0 else { return }
            for name in names { unsafe unlinkat(folder, name, 0) }
        }
    }

    /// Waits until all of it is done.
    func wait() { queue.sync {} }
}
