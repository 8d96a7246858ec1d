import CountdownCore
import System

/// A store that fails and recovers: ends that cannot be stored now are kept and stored later.
struct RetryingStore: ~Copyable {
    /// The work that cleanup has left.
    enum Remainder {
        case nothing, lines, lostFiles
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// Each turn tries to store up to this many ends, or records of a fleet, again; if there are more, they wait for the next
    /// retry.
    private static let fewUnstored = 1_024
    /// The most ends that could not be stored and become one turn of the store. With the longest texts, if each of their bytes needs
    /// an escape of six, they take 8 MiB of the 16 that a turn may have.
    static let mostInPart = 256
    /// Commits within this time are in quick succession.
    private static let quickSuccession = Duration.milliseconds(10)

    /// The pause between looks whether the disk has what it was given.
    private static let patience = Duration.milliseconds(20)

    /// If no more changes than these wait to be stored, they are all kept.
    var mostUnstored = 65_536

    private let path: String
    private let openStore: (Now) throws(OpenError) -> OpenedStore
    var log: Log
    private var store: (any Store)?
    /// Ends that were published although they could not be stored.
    private var unstored = Changes()
    /// How many changes were given up because the store is written again from memory instead.
    private var givenUp = 0
    private var pause = RetryingStore.firstPause
    private var outage = Outage()
    /// Why nothing can be stored now; nil if the store works.
    private(set) var failure: StoreFailure?
    private var nextTry: BootInstant?
    private var lastCommit: BootInstant?
    /// When the store was last written again.
    private var lastRewrite: BootInstant?
    /// How many changes were stored late since the store began to fail.
    private var unstoredLate = 0
    /// When the work that waits for the disk goes on.
    private var nextWork: BootInstant?
    /// Whether the store was written again without the state of a member of a fleet.
    private(set) var hasLostFleet = false

    /// - Parameters:
    ///   - path: of the store, for the log.
    ///   - log: gets one line when the store fails, and one when it works again.
    ///   - open: opens the store; called again later if it throws.
    init(path: String, log: Log, open: @escaping (Now) throws(OpenError) -> OpenedStore) {
        self.path = path
        self.log = log
        openStore = open
    }

    init(location: StoreLocation, log: Log) {
        self.init(path: location.path ?? "", log: log) { now throws(OpenError) in try location.open(at: now) }
    }

    /// When something is due even if nothing happens: a retry, or a line for the log.
    var next: BootInstant? { earliest(earliest(nextTry, outage.next), nextWork) }

    /// Opens the store.
    ///
    /// - Returns: the store and its contents; nil if it cannot be opened now and has to be tried again.
    /// - Throws: only if a living daemon holds the store.
    mutating func open(at now: Now) throws(OpenError) -> OpenedStore? {
        do throws(OpenError) {
            let opened = try openStore(now)
            store = opened.store
            // Before the store is open, only a step of the clock can have happened; opening has noted it.
            unstored = Changes()
            begin(opened.store, at: now)
            return opened
        } catch {
            guard case .unavailable(let failure) = error else { throw error }
            fail(failure, at: now)
            return nil
        }
    }

    /// A store that can only be read is served, and fails.
    private mutating func begin(_ store: any Store, at now: Now) {
        do throws(StoreFailure) {
            try store.begin()
            recover(at: now, late: 0)
        } catch {
            fail(error, at: now)
        }
    }

    /// Opens the store after it could not be opened at first. Now no failure is a reason to exit.
    mutating func openAtLast(at now: Now) -> OpenedStore? {
        do throws(OpenError) {
            return try open(at: now)
        } catch {
            fail(StoreFailure(error), at: now)
            return nil
        }
    }

    /// Whether the contents of the store are known. Until then nothing may be changed.
    var isOpen: Bool { store != nil }

    /// Whether revisions may be given: the store is open, and has noted that this daemon uses it. Until then what is due stays due.
    var givesRevisions: Bool { store?.hasBegun ?? false }

    /// How many bases were begun.
    var bases: Int { store?.bases ?? 0 }

    /// The pages of 4 KiB that the store takes on the disk.
    var logPages: Int { store?.logPages ?? 0 }

    /// The number of changes that could not be stored yet.
    var unstoredChanges: Int { unstored.steps.count + givenUp }

    private var hasUnstored: Bool { givenUp > 0 || !unstored.isEmpty }

    /// Stores the changes of a turn, and ends of earlier turns that could not be stored.
    ///
    /// - Parameters:
    ///   - changes: the changes; the timetable has them already.
    ///   - timetable: everything that is known. If files of the store are lost, the store is written again from it.
    ///   - now: for the pauses between retries.
    /// - Throws: if the changes could not be stored.
    mutating func commit(
        _ changes: Changes,
        of timetable: borrowing Timetable,
        at now: Now
    ) throws(StoreFailure) {
        guard let store else { throw failure ?? StoreFailure(reason: "the store is not open", hint: nil) }
        let isLarge = givenUp > 0 || unstored.count > Self.fewUnstored
        if let failure, let nextTry, now.boot < nextTry, isLarge { throw failure }
        do throws(StoreFailure) {
            let isInQuickSuccession = lastCommit.map { now.boot - $0 < Self.quickSuccession } ?? false
            lastCommit = now.boot
            do throws(StoreFailure) {
                guard givenUp == 0 else {
                    throw StoreFailure(reason: "\(path) lacks \(unstoredChanges) changes", isOfFiles: true)
                }
                try store.begin()
                let isTried = try storeUnstored(in: store)
                // Without a change, this is a test whether the store works.
                if !changes.isEmpty || !isTried { try store.commit(changes, comparing: !isInQuickSuccession) }
            } catch {
                guard error.isOfFiles, isTimeToRewrite(at: now) else { throw error }
                try rewrite(store, after: error, timetable, changes.clockStep ?? unstored.clockStep, at: now)
                unstoredLate += unstoredChanges
            }
        } catch {
            fail(error, at: now)
            throw error
        }
        (unstored, givenUp) = (Changes(), 0)
        recover(at: now, late: unstoredLate)
        unstoredLate = 0
    }

    /// Stores ends of earlier turns, a few at a time: each part that is stored is not stored again if a later one fails.
    ///
    /// - Returns: whether there were any.
    private mutating func storeUnstored(in store: any Store) throws(StoreFailure) -> Bool {
        guard !unstored.isEmpty else { return false }
        var stored = 0
        defer { if stored > 0 { unstored.steps.removeFirst(stored) } }
        while stored < unstored.steps.count {
            let part = Array(unstored.steps[stored...].prefix(Self.mostInPart))
            try store.commit(Changes(steps: part, clockStep: stored == 0 ? unstored.clockStep : nil), comparing: false)
            unstored.clockStep = nil
            stored += part.count
            unstoredLate += part.count
        }
        if unstored.clockStep != nil { try store.commit(Changes(clockStep: unstored.clockStep), comparing: false) }
        unstored.clockStep = nil
        guard var fleet = unstored.fleet else { return true }
        while fleet.records.count > Self.fewUnstored {
            let part = FleetChanges(records: Array(fleet.records.prefix(Self.fewUnstored)))
            try store.commit(Changes(fleet: part), comparing: false)
            fleet.records.removeFirst(Self.fewUnstored)
            unstored.fleet = fleet
        }
        // The position last: until then the log of the fleet is followed from the old one.
        try store.commit(Changes(fleet: fleet), comparing: false)
        unstored.fleet = nil
        return true
    }

    /// Writing a large store takes seconds, so it happens at most once a second if files are lost again and again.
    private func isTimeToRewrite(at now: Now) -> Bool {
        (nextTry == nil || isTimeToTry(at: now)) && lastRewrite.map { now.boot - $0 >= Self.firstPause } ?? true
    }

    private mutating func rewrite(
        _ store: any Store,
        after loss: StoreFailure,
        _ timetable: borrowing Timetable,
        _ clockStep: ClockStep?,
        at now: Now
    ) throws(StoreFailure) {
        lastRewrite = now.boot
        let kept: String?
        do throws(StoreFailure) {
            kept = try store.rewrite(timetable, clockStep: clockStep, at: now)
        } catch {
            throw StoreFailure(reason: "\(loss.reason), and \(error.reason)", hint: error.hint, isOfFiles: true)
        }
        hasLostFleet = true
        let place = kept.map { "; what had the name of the store is kept as \($0)" } ?? ""
        log.write(.error, "\(loss.advice). A new store was written from memory, and nothing is lost\(place)")
    }

    /// Retries if it is time, and logs the transitions that time brings.
    mutating func retry(_ timetable: borrowing Timetable, at now: Now) {
        report(outage.advance(to: now.boot))
        if isOpen, isTimeToTry(at: now) { try? commit(Changes(), of: timetable, at: now) }
    }

    /// Whether a store that fails, or could not be opened, is due for a retry.
    func isTimeToTry(at now: Now) -> Bool {
        nextTry.map { $0 <= now.boot } ?? false
    }

    /// Keeps changes that cannot be undone until they can be stored.
    ///
    /// A member of a fleet gets changes however long it cannot store them. If there are more of them than countdowns, they are
    /// given up, and the store is written again when that is possible.
    mutating func keep(_ changes: Changes, of timetable: borrowing Timetable) {
        unstored.append(changes)
        guard givenUp > 0 || unstored.count > max(mostUnstored, timetable.liveCount) else { return }
        givenUp += unstored.count
        unstored = Changes(clockStep: unstored.clockStep)
    }

    /// Notes that everything of the fleet is read again.
    mutating func fleetIsReadAgain() { hasLostFleet = false }

    func drop(_ endings: [Revision]) {
        store?.drop(endings)
    }

    /// Does some of the work that no turn has to wait for; none while the store fails, or a change waits to be stored.
    ///
    /// - Parameters:
    ///   - timetable: everything that is known.
    ///   - fleet: what a member of a fleet knows; nil without one.
    ///   - changes: how many changes this turn had; nil if the daemon is idle. Then it also looks for files that are lost, and writes
    ///     the store again in the next `retry`.
    ///   - now: this instant.
    /// - Returns: what is left.
    mutating func work(
        _ timetable: inout Timetable,
        fleet: @autoclosure () -> StoredFleet?,
        changes: Int? = nil,
        at now: Now
    ) -> Remainder {
        let isDue = nextWork.map { $0 <= now.boot } ?? false
        guard failure == nil, !hasUnstored, let store, changes == nil || store.isBehind || isDue else {
            if isDue { nextWork = nil }
            return .nothing
        }
        nextWork = nil
        do throws(StoreFailure) {
            if changes == nil { try store.checkWhenIdle() }
        } catch {
            nextTry = lastCommit
            return .lostFiles
        }
        let lines = max(BaseFile.linesAtOnce, changes ?? 0)
        if store.work(&timetable, fleet: fleet(), lines: lines, at: now.boot) { return .lines }
        if store.isWaiting { nextWork = now.boot + Self.patience }
        return .nothing
    }

    /// Closes the store. Ends that could not be stored are tried once more, and a store whose files are lost is written
    /// again.
    mutating func close(_ timetable: borrowing Timetable, at now: Now) {
        let isWhole = (try? store?.check()) != nil
        // This is the last chance, so that no pause between tries counts.
        (nextTry, lastRewrite) = (nil, nil)
        if hasUnstored || isOpen && !isWhole { try? commit(Changes(), of: timetable, at: now) }
        if !hasUnstored || store?.hasBegun != true {
            store?.close(at: timetable.revision)
        } else {
            let count = unstoredChanges
            log.write(
                .error,
                "\(count) \(count == 1 ? "end" : "ends") could not be stored, and will be delivered again"
            )
        }
        store = nil
    }

    private mutating func fail(_ failure: StoreFailure, at now: Now) {
        self.failure = failure
        // A turn that tries in between does not postpone the retry.
        if nextTry == nil || isTimeToTry(at: now) {
            nextTry = now.boot + pause
            pause = min(Duration(microseconds: pause.microseconds * 2), Self.longestPause)
        }
        report(outage.advance(to: now.boot))
        report(outage.fail(at: now.boot))
    }

    private mutating func recover(at now: Now, late: Int) {
        nextTry = nil
        guard failure != nil else { return }
        failure = nil
        pause = Self.firstPause
        report(outage.recover(at: now.boot, late: late))
    }

    private func report(_ transition: Outage.Transition?) {
        guard let transition else { return }
        // A failure to open the store names the path itself.
        let place = isOpen && failure?.isOfFiles == false ? "\(path): " : ""
        log.write(transition.level, transition.sentence(failure.map { "\(place)\($0.advice)" }, isOpen: isOpen))
    }
}
