import Dispatch
import Glibc
import Synchronization
import System

/// The thread that waits for the disk.
final class Background: Sendable {
    /// How far the sync of one base and of what belongs to it has come.
    final class BaseSync: Sendable {
        enum State: UInt8, AtomicRepresentable {
            case running, done, failed
        }

        fileprivate let current = Atomic(State.running)
        var state: State { current.load(ordering: .acquiring) }
    }

    private let queue = DispatchQueue(label: "countdownd.log", qos: .utility)
    private let syncedTurn = Atomic<Int64>(-1)
    /// Whether a sync has failed that has not been told.
    private let hasFailed = Atomic(false)
    /// Whether the log has a file that could not be synced, so that nothing later counts as synced.
    private let hasUnsynced = Atomic(false)

    /// The turn up to which everything is on the disk; nil if that is not known.
    var synced: Int64? {
        let turn = syncedTurn.load(ordering: .acquiring)
        return turn < 0 ? nil : turn
    }

    /// Whether a sync has failed since the last call: it must not be tried again on that file, since the kernel may have dropped what
    /// could not be written.
    func takeFailure() -> Bool { hasFailed.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether every file of the log that was to be synced could be.
    var isSure: Bool { !hasUnsynced.load(ordering: .acquiring) }

    /// Notes that a file could not be synced.
    func noteFailure() { hasUnsynced.store(true, ordering: .releasing) }

    /// Notes that a base replaces every file that could not be synced.
    func forgetFailure() { hasUnsynced.store(false, ordering: .releasing) }

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
            if !isSynced {
                hasFailed.store(true, ordering: .releasing)
                noteFailure()
            }
            if let turn, isSure { syncedTurn.store(turn, ordering: .releasing) }
        }
    }

    /// Syncs a base and what belongs to it.
    ///
    /// - Returns: says when that is done.
    func finish(_ files: [LogFile]) -> BaseSync {
        let sync = BaseSync()
        queue.async {
            let isSynced = files.allSatisfy { (try? $0.sync()) != nil }
            sync.current.store(isSynced ? .done : .failed, ordering: .releasing)
        }
        return sync
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
