import CountdownCore

/// The store through good times and bad: what cannot be stored now is kept and stored later.
struct Storage {
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// So many endings are worth a try with every turn; more wait for the next retry, as each try costs as much.
    private static let fewUnstored = 1_024
    /// Who commits again within this is in haste.
    private static let haste = Duration.milliseconds(10)

    private let path: String
    private let openStore: (Now) throws(StoreOpening.Failure) -> OpenedStore
    private let log: Log
    private var store: (any Store)?
    /// Endings that were told though they could not be stored.
    private var unstored = Changes()
    private var pause = Storage.firstPause
    private var outage = Outage()
    /// Why nothing can be stored now, nil where all is well.
    private(set) var failure: StoreFailure?
    private var nextTry: BootInstant?
    private var lastCommit: BootInstant?

    /// - Parameters:
    ///   - path: of the store, for the log.
    ///   - log: is told once that the store fails, and once that it works again.
    ///   - open: opens the store, and is asked again where it throws.
    init(path: String, log: Log, open: @escaping (Now) throws(StoreOpening.Failure) -> OpenedStore) {
        self.path = path
        self.log = log
        openStore = open
    }

    init(opening: StoreOpening, log: Log) {
        self.init(path: opening.path ?? "", log: log) { now throws(StoreOpening.Failure) in try opening.open(at: now) }
    }

    /// When something has to be done though nothing happens: to try again, or to say that all is well.
    var next: BootInstant? { earliest(nextTry, outage.next) }

    /// Opens the store.
    ///
    /// - Returns: what it held; nil where it cannot be opened now and has to be tried again.
    /// - Throws: where a living daemon has it, and only then.
    mutating func open(at now: Now) throws(StoreOpening.Failure) -> OpenedStore? {
        do throws(StoreOpening.Failure) {
            let opened = try openStore(now)
            store = opened.store
            // Nothing but a step of the clock can have happened before; the opening has taken note of it.
            unstored = Changes()
            recover(at: now, late: 0)
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
                let reason = "\(directory) is held by another countdownd: \(holder)"
                fail(StoreFailure(reason: reason, remedy: nil), at: now)
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
        guard let store else { throw failure ?? StoreFailure(reason: "the store is not open", remedy: nil) }
        if let failure, let nextTry, now.boot < nextTry, unstored.steps.count > Self.fewUnstored { throw failure }
        do throws(StoreFailure) {
            let isInHaste = lastCommit.map { now.boot - $0 < Self.haste } ?? false
            lastCommit = now.boot
            try store.commit(unstored.isEmpty ? changes : unstored.followed(by: changes), inHaste: isInHaste)
        } catch {
            fail(error, at: now)
            throw error
        }
        let late = unstored.steps.count
        unstored = Changes()
        recover(at: now, late: late)
    }

    /// Tries again where it is time, and says what there is to say by now.
    mutating func retry(at now: Now) {
        say(outage.pass(to: now.boot))
        if isOpen, isTimeToTry(at: now) { try? commit(Changes(), at: now) }
    }

    /// Whether a store that fails, or could not be opened, is to be tried again.
    func isTimeToTry(at now: Now) -> Bool {
        nextTry.map { $0 <= now.boot } ?? false
    }

    /// Keeps what cannot be taken back until it can be stored.
    mutating func keep(_ changes: Changes) {
        unstored = unstored.followed(by: changes)
    }

    func drop(_ endings: [Revision]) {
        store?.drop(endings)
    }

    /// Does some of what commits in haste have left; nothing of it while nothing can be stored.
    ///
    /// - Returns: whether there is more of it.
    func tidyUp() -> Bool {
        failure == nil && store?.tidyUp() == true
    }

    /// Closes the store: what could not be stored is tried once more.
    mutating func close(at revision: Revision, _ now: Now) {
        if !unstored.isEmpty { try? commit(Changes(), at: now) }
        if unstored.isEmpty {
            store?.close(at: revision)
        } else {
            let count = unstored.steps.count
            log.write(
                .error,
                "\(count) \(count == 1 ? "ending" : "endings") could not be stored, and will be told again"
            )
        }
        store = nil
    }

    private mutating func fail(_ failure: StoreFailure, at now: Now) {
        self.failure = failure
        // Turns that try in between put nothing off.
        if nextTry == nil || isTimeToTry(at: now) {
            nextTry = now.boot + pause
            pause = min(Duration(microseconds: pause.microseconds * 2), Self.longestPause)
        }
        say(outage.pass(to: now.boot))
        say(outage.fail(at: now.boot))
    }

    private mutating func recover(at now: Now, late: Int) {
        guard failure != nil else { return }
        failure = nil
        nextTry = nil
        pause = Self.firstPause
        say(outage.recover(at: now.boot, late: late))
    }

    private func say(_ news: Outage.News?) {
        guard let news else { return }
        // What keeps a store from being opened names the place itself.
        let place = isOpen ? "\(path): " : ""
        log.write(news.level, news.sentence(failure.map { "\(place)\($0.advice)" }))
    }
}
