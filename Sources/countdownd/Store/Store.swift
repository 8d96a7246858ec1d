import CSQLite
import CountdownCore
import Fleet
import Glibc
import System

/// Keeps changes beyond the life of the process.
protocol Store: AnyObject {
    /// Stores all changes of a turn, or none of them. If cleanup is deferred, dead rows are left for `cleanUp`.
    func commit(_ changes: Changes, deferringCleanup: Bool) throws(StoreFailure)
    /// Makes the tables of a member of a fleet if they are missing, and reads them. If that fails, the first commit of the
    /// member's changes empties them.
    ///
    /// - Parameter restore: gets each record with the number of its row.
    /// - Returns: how far the log of the fleet is known; nil if a snapshot is needed.
    /// - Throws: if the tables can be neither made nor read.
    func openFleet(restore: (LogEntry, Int64) -> Void) throws(StoreFailure) -> LogCursor.Position?
    /// Gives up ends that are not kept as history any more; their rows are deleted later.
    func drop(_ endings: [Revision])
    /// Deletes some dead rows, for a millisecond or two at most.
    ///
    /// - Returns: whether there are more.
    /// - Throws: if files were lost since they were compared last.
    func cleanUp() throws(StoreFailure) -> Bool
    /// Checks that the files of the store are still those that were opened.
    func check() throws(StoreFailure)
    /// Writes the store again, in the place of files that are lost.
    ///
    /// - Parameters:
    ///   - timetable: everything that is known, with the changes that could not be committed.
    ///   - clockStep: set if the system clock was set and this is not stored yet.
    ///   - now: goes into the names of files that are moved aside.
    /// - Returns: where files are kept that had the name of the store; nil if there were none.
    /// - Throws: if this is not possible now.
    func rewrite(_ timetable: borrowing Timetable, clockStep: ClockStep?, at now: Now) throws(StoreFailure) -> String?
    /// How many background checkpoints were started.
    var checkpoints: Int { get }
    /// The number of pages in the write-ahead log.
    var logPages: Int { get }
    /// Stores that the daemon stopped cleanly at this revision, so that nothing can be missing.
    func close(at revision: Revision)
}

/// The changes that a turn has to store before it answers.
struct Changes {
    /// In the order of their revisions.
    var steps: [Change] = []
    /// Set if the system clock was set.
    var clockStep: ClockStep?
    /// Set if something changed that a member of a fleet stores besides.
    var fleet: FleetChanges?

    var isEmpty: Bool { steps.isEmpty && clockStep == nil && fleet == nil }

    /// How many changes, or records of a fleet, there are.
    var count: Int { max(steps.count, fleet?.rows.count ?? 0) }

    /// Adds later changes. Those that were there are not copied.
    mutating func append(_ later: Changes) {
        steps += later.steps
        clockStep = later.clockStep ?? clockStep
        guard let laterFleet = later.fleet else { return }
        if fleet == nil { fleet = laterFleet } else { fleet?.append(laterFleet) }
    }
}

/// A step of the system clock.
struct ClockStep {
    /// The new difference between the system clock and the boot clock.
    let offset: Duration
    /// The newest revision before the step.
    let revision: Revision
}

/// Why changes cannot be stored.
struct StoreFailure: Error, Equatable {
    let reason: String
    /// Nil if the reason says all that is known.
    var hint: Hint?
    /// Whether files of the store are lost, so that it has to be written again.
    var isOfFiles = false
}

/// An open store and its contents.
struct OpenedStore: ~Copyable {
    let store: any Store
    var timetable: Timetable
    /// The newest revision when the system clock was last set; nil if that is not known.
    let stepRevision: Revision?
    /// The offset of the clocks that the last daemon held; nil if this is another boot, or the system clock was set since.
    let offset: Duration?
}

extension StoreFailure {
    /// The remedy: a person must do this so that changes are stored again.
    enum Hint: String {
        case makeRoom = "make room on its file system"
        case makeWritable = "see that its user may write there"
        case lookAtDisk = "see the kernel log for faults of the disk, and the limit on the size of files"
        case makeDirectory = "make the directory again; until then the countdowns are in memory alone"
        case mount = "mount it again; until then the countdowns are in memory alone"
        case restoreTarget = "put the target back or remove the link; until then the countdowns are in memory alone"
        case leaveFilesAlone = "stop countdownd before you move, replace or restore its files"
        case freeLock = "end the program that keeps it locked"

        /// The hint for a failed system call; nil if its text says all that is known.
        init?(errno code: Int32) {
            switch code {
            case ENOSPC, EDQUOT: self = .makeRoom
            case EACCES, EPERM, EROFS: self = .makeWritable
            case EIO, EFBIG: self = .lookAtDisk
            default: return nil
            }
        }

        /// The hint for a failure of SQLite.
        init?(_ failure: SQLiteFailure) {
            switch failure.code & 0xff {
            case SQLITE_FULL: self = .makeRoom
            case SQLITE_READONLY, SQLITE_PERM: self = .makeWritable
            case SQLITE_BUSY, SQLITE_LOCKED: self = .freeLock
            // SQLite does not always report the errno.
            case SQLITE_IOERR where failure.systemCode == 0: self = .lookAtDisk
            default: self.init(errno: failure.systemCode)
            }
        }
    }

    /// SQLite's message, with the path before it if one is given.
    init(_ failure: SQLiteFailure, of place: String? = nil) {
        reason = "\(place.map { "\($0): " } ?? "")\(failure)"
        hint = Hint(failure)
    }

    init(_ failure: SystemFailure, of place: String) {
        reason = "\(place): \(failure)"
        hint = Hint(errno: failure.code)
    }

    /// The reason, with the hint if there is one.
    var advice: String {
        hint.map { "\(reason) (\($0.rawValue))" } ?? reason
    }
}

/// The faults that an answered change must survive.
enum Durability: String, CaseIterable {
    case process
    case powerLoss = "power-loss"
}

/// Why a file cannot be read as a store, now or later.
enum Corruption: Error, Equatable {
    case notADatabase
    case ofAnotherProgram(applicationID: Int64)
    case newer(version: Int64, known: Int64)
    /// The file claims to be a store, but this table does not match its version.
    case strange(table: String, version: Int64)
    /// The fault, in the words of SQLite or ours.
    case damaged(String)
    /// There is a log, but no database.
    case logAlone

    var what: String {
        switch self {
        case .notADatabase: "it is not an SQLite database"
        case .ofAnotherProgram(let id): "it is another program's SQLite database (application id \(id))"
        case .newer(let version, let known):
            "its version \(version) is from a newer countdownd; this one knows versions up to \(known)"
        case .strange(let table, let version): "its table \(table) does not match version \(version)"
        case .damaged(let fault): "it is damaged (\(fault))"
        case .logAlone: "there is a log of changes, but its database is missing"
        }
    }

    /// The remedy for a person.
    ///
    /// - Parameters:
    ///   - path: the path of the store.
    ///   - place: where the file is kept.
    /// - Returns: the end of a sentence.
    func advice(path: String, place: String) -> String {
        switch self {
        case .notADatabase, .ofAnotherProgram, .strange:
            "move it away: countdownd needs \(path) for itself, or another --state-directory"
        case .newer:
            "to use it, upgrade countdownd, stop it, and move \(place) back to \(path)"
        case .damaged:
            """
            `sqlite3 '\(place)' .recover` shows what can be read of it; to restore a backup, put it at \(path) while \
            countdownd is stopped
            """
        case .logAlone:
            "if you find the database, put the log beside it, under its name with -wal appended"
        }
    }
}

/// Why a store cannot be opened.
enum OpenError: Error {
    /// A living daemon has it; the holder in words: its process and host, if they are known.
    case held(path: String, holder: String)
    /// The file is no store and will not become one: it has to be quarantined.
    case corrupt(Corruption)
    /// It cannot be opened now, and stays where it is.
    case unavailable(StoreFailure)

    /// - Parameters:
    ///   - failure: of opening or reading a file.
    ///   - path: of the file.
    init(_ failure: SQLiteFailure, at path: String) {
        self =
            failure.isOfContents
            ? .corrupt(.damaged(failure.description)) : .unavailable(StoreFailure(failure, of: path))
    }
}

extension StoreFailure {
    /// Why a store cannot be opened, as a reason for not storing changes.
    init(_ error: OpenError) {
        switch error {
        case .held(let path, let holder):
            self.init(reason: "\(path) is held by another countdownd: \(holder)", hint: nil)
        case .corrupt(let corruption): self.init(reason: corruption.what, hint: nil)
        case .unavailable(let failure): self = failure
        }
    }
}
