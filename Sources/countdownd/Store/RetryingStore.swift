import CountdownCore
import Fleet
import System
import Text

/// A store that fails and recovers: ends that cannot be stored now are kept and stored later.
struct RetryingStore: ~Copyable {
    /// The work that cleanup has left.
    enum Remainder {
        case nothing, rows, lostFiles
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// Each turn tries to store up to this many ends, or records of a fleet, again; if there are more, they wait for the next
    /// retry.
    private static let fewUnstored = 1_024
    /// Commits within this time are in quick succession.
    private static let quickSuccession = Duration.milliseconds(10)

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
    var next: BootInstant? { earliest(nextTry, outage.next) }

    /// Opens the store.
    ///
    /// - Returns: the store and its contents; nil if it cannot be opened now and has to be tried again.
    /// - Throws: only if a living daemon holds the store.
    mutating func open(at now: Now) throws(OpenError) -> OpenedStore? {
        do throws(OpenError) {
            let opened = try openStore(now)
            store = opened.store
            // Before the store is open, only a step of the clock can have happened; opening has stored it.
            unstored = Changes()
            recover(at: now, late: 0)
            return opened
        } catch {
            guard case .unavailable(let failure) = error else { throw error }
            fail(failure, at: now)
            return nil
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

    /// How many background checkpoints were started.
    var checkpoints: Int { store?.checkpoints ?? 0 }

    /// The number of pages in the write-ahead log.
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
        var all = unstored.isEmpty ? changes : unstored
        if !unstored.isEmpty { all.append(changes) }
        do throws(StoreFailure) {
            let defersCleanup = lastCommit.map { now.boot - $0 < Self.quickSuccession } ?? false
            lastCommit = now.boot
            do throws(StoreFailure) {
                guard givenUp == 0 else {
                    throw StoreFailure(reason: "\(path) lacks \(unstoredChanges) changes", isOfFiles: true)
                }
                try store.commit(all, deferringCleanup: defersCleanup)
            } catch {
                guard error.isOfFiles, isTimeToRewrite(at: now) else { throw error }
                try rewrite(store, after: error, timetable, all.clockStep, at: now)
            }
        } catch {
            fail(error, at: now)
            throw error
        }
        let late = unstoredChanges
        (unstored, givenUp) = (Changes(), 0)
        recover(at: now, late: late)
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

    /// Reads the stored state of a member of a fleet.
    ///
    /// - Parameters:
    ///   - now: for the pauses between retries if it cannot be read.
    ///   - restore: gets each record with the number of its row.
    /// - Returns: how far the log of the fleet is known; nil if a snapshot is needed.
    mutating func openFleet(at now: Now, restore: (LogEntry, Int64) -> Void) -> LogCursor.Position? {
        hasLostFleet = false
        do throws(StoreFailure) {
            return try store?.openFleet(restore: restore)
        } catch {
            fail(error, at: now)
            return nil
        }
    }

    /// Notes that everything of the fleet is read again.
    mutating func fleetIsReadAgain() { hasLostFleet = false }

    func drop(_ endings: [Revision]) {
        store?.drop(endings)
    }

    /// Deletes some of the dead rows that commits in quick succession have left; none while the store fails.
    ///
    /// If files were lost, the next `retry` writes the store again.
    mutating func cleanUp() -> Remainder {
        guard failure == nil, let store else { return .nothing }
        do throws(StoreFailure) {
            return try store.cleanUp() ? .rows : .nothing
        } catch {
            nextTry = lastCommit
            return .lostFiles
        }
    }

    /// Closes the store. Ends that could not be stored are tried once more, and a store whose files are lost is written
    /// again.
    mutating func close(_ timetable: borrowing Timetable, at now: Now) {
        let isWhole = (try? store?.check()) != nil
        // This is the last chance, so that no pause between tries counts.
        (nextTry, lastRewrite) = (nil, nil)
        if hasUnstored || isOpen && !isWhole { try? commit(Changes(), of: timetable, at: now) }
        if !hasUnstored {
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

/// When a failing store is logged: once when it begins to fail, and once when it works again.
///
/// A disk that fails now and then would cause endless lines. So a store that fails again within a minute is logged once as
/// flapping, and then not before it has worked for a minute.
struct Outage {
    /// A transition that is logged.
    enum Transition: Equatable {
        case began
        /// The store works again, after this time; this many ends were stored late.
        case ended(after: Duration, late: Int)
        /// The store fails again so soon that further transitions are not logged.
        case flapping
        /// The store has worked for a minute, after it failed this often in this time.
        case recovered(after: Duration, times: Int, late: Int)
    }

    /// A store has recovered after it has worked for this long.
    static let recoveryTime = Duration.seconds(60)

    private struct Course {
        let began: BootInstant
        var times = 1
        var late = 0
        /// When the store began to work again; nil while it fails.
        var ended: BootInstant?
        var isFlapping = false
    }

    private var course: Course?

    /// When a line is due even if nothing happens.
    var next: BootInstant? {
        guard let course, course.isFlapping else { return nil }
        return course.ended.map { $0 + Self.recoveryTime }
    }

    /// Notes that the store failed.
    mutating func fail(at now: BootInstant) -> Transition? {
        guard let course else {
            self.course = Course(began: now)
            return .began
        }
        guard course.ended != nil else { return nil }
        self.course = Course(began: course.began, times: course.times + 1, late: course.late, isFlapping: true)
        return course.isFlapping ? nil : .flapping
    }

    /// Notes that everything could be stored, and how many ends were stored late.
    mutating func recover(at now: BootInstant, late: Int) -> Transition? {
        guard var course, course.ended == nil else { return nil }
        course.ended = now
        course.late += late
        self.course = course
        return course.isFlapping ? nil : .ended(after: now - course.began, late: course.late)
    }

    /// Notes the time: a store that has worked for a minute has recovered.
    mutating func advance(to now: BootInstant) -> Transition? {
        guard let course, let ended = course.ended, ended + Self.recoveryTime <= now else { return nil }
        self.course = nil
        guard course.isFlapping else { return nil }
        return .recovered(after: ended - course.began, times: course.times, late: course.late)
    }
}

extension Outage.Transition {
    /// The line for the log. `cause` says what fails, why, and what can be done; it is ignored if the store works.
    func sentence(_ cause: String?, isOpen: Bool = true) -> String {
        switch self {
        case .began where !isOpen:
            """
            changes cannot be stored: \(cause ?? ""); until the store is open, no countdown is known, and calls are refused
            """
        case .began:
            """
            changes cannot be stored: \(cause ?? ""); until they can, changes are refused, and ends \
            are delivered and stored later
            """
        case .ended(let duration, let late):
            "changes can be stored again, after \(ApproximateDuration.text(duration.microseconds))\(Self.text(ofLate: late))"
        case .flapping:
            """
            changes cannot be stored again: \(cause ?? ""); the store is flapping, so nothing more is logged before it \
            has worked for a minute
            """
        case .recovered(let duration, let times, let late):
            """
            changes have been stored for a minute; before, storing failed \(times) times in \
            \(ApproximateDuration.text(duration.microseconds))\(Self.text(ofLate: late))
            """
        }
    }

    /// The level of the line.
    var level: Log.Level {
        switch self {
        case .began, .flapping: .error
        case .ended, .recovered: .notice
        }
    }

    private static func text(ofLate count: Int) -> String {
        count == 0 ? "" : "; \(count) \(count == 1 ? "end" : "ends") stored late"
    }
}
