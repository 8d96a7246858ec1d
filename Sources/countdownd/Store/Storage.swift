import CountdownCore

/// The store through good times and bad: what cannot be stored now is kept and stored later.
struct Storage {
    private static let firstPause = TimeSpan.seconds(1)
    private static let longestPause = TimeSpan.seconds(60)
    /// So many endings are worth a try with every turn; more wait for the next retry, as each try costs as much.
    private static let fewUnstored = 1_024

    private let opening: StoreOpening
    private let log: Log
    private var store: (any Store)?
    /// Endings that were told though they could not be stored.
    private var unstored = Changes()
    private var pause = Storage.firstPause
    /// Why nothing can be stored now, nil where all is well.
    private(set) var failure: StoreFailure?
    /// When to try again, nil where all is well.
    private(set) var nextTry: BootInstant?

    init(opening: StoreOpening, log: Log) {
        self.opening = opening
        self.log = log
    }

    /// Opens the store.
    ///
    /// - Returns: what it held; nil where it cannot be opened now and has to be tried again.
    /// - Throws: where a living daemon has it, and only then.
    mutating func open(at now: Now) throws(StoreOpening.Failure) -> OpenedStore? {
        do throws(StoreOpening.Failure) {
            let opened = try opening.open(at: now)
            store = opened.store
            // Nothing but a step of the clock can have happened before; the opening has taken note of it.
            unstored = Changes()
            recover()
            return opened
        } catch {
            guard case .failed(let failure) = error else { throw error }
            fail(failure, at: now)
            return nil
        }
    }

    /// Opens the store where it could not be opened at first: now nothing of it is a reason to end.
    mutating func openAtLast(at now: Now) -> OpenedStore? {
        do throws(StoreOpening.Failure) {
            return try open(at: now)
        } catch {
            if case .held(let directory, let holder) = error {
                fail(StoreFailure(reason: "\(directory) is held by another countdownd: \(holder)"), at: now)
            }
            return nil
        }
    }

    /// Whether what the store holds is known: where it is not, nothing may be changed.
    var isOpen: Bool { store != nil }

    /// How often the log was begun to be copied into the database in the background.
    var checkpoints: Int { store?.checkpoints ?? 0 }

    /// Stores the changes of a turn, and those of earlier turns that could not be stored.
    mutating func commit(_ changes: Changes, at now: Now) throws(StoreFailure) {
        guard let store else { throw failure ?? StoreFailure(reason: "the store is not open") }
        if let failure, let nextTry, now.boot < nextTry, unstored.steps.count > Self.fewUnstored { throw failure }
        var all = unstored
        all.steps += changes.steps
        all.clockStep = changes.clockStep ?? unstored.clockStep
        do throws(StoreFailure) {
            try store.commit(all)
        } catch {
            fail(error, at: now)
            throw error
        }
        unstored = Changes()
        if failure != nil { recover() }
    }

    /// Keeps what cannot be taken back until it can be stored.
    mutating func keep(_ changes: Changes) {
        unstored.steps += changes.steps
        unstored.clockStep = changes.clockStep ?? unstored.clockStep
    }

    func drop(_ endings: [Revision]) {
        store?.drop(endings)
    }

    /// Closes the store: what could not be stored is tried once more.
    mutating func close(at revision: Revision, _ now: Now) {
        if !unstored.isEmpty { try? commit(Changes(), at: now) }
        if unstored.isEmpty { store?.close(at: revision) }
        store = nil
    }

    private mutating func fail(_ failure: StoreFailure, at now: Now) {
        if self.failure == nil { log.write(.error, "changes cannot be stored: \(failure.reason)") }
        self.failure = failure
        nextTry = now.boot + pause
        pause = min(TimeSpan(microseconds: pause.microseconds * 2), Self.longestPause)
    }

    private mutating func recover() {
        if failure != nil { log.write(.notice, "changes can be stored again") }
        failure = nil
        nextTry = nil
        pause = Self.firstPause
    }
}
