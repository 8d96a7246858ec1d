import CountdownCore
import Fleet
import Glibc
import System

/// Keeps changes beyond the life of the process.
protocol Store: AnyObject {
    /// Whether the store has noted that this daemon uses it. Before that no revision may be given.
    var hasBegun: Bool { get }
    /// Notes that this daemon uses the store, unless that is noted.
    func begin() throws(StoreFailure)
    /// Stores all changes of a turn, or none of them.
    ///
    /// - Parameters:
    ///   - changes: the changes. Without any, this is a test whether the store works.
    ///   - comparing: whether to look for files that are lost, although the system has reported none.
    /// - Throws: why nothing is stored.
    func commit(_ changes: Changes, comparing: Bool) throws(StoreFailure)
    /// Gives up ends that are not kept as history any more.
    func drop(_ endings: [Revision])
    /// Does some of the work that no turn has to wait for, while everything in the timetable is stored.
    ///
    /// - Parameters:
    ///   - timetable: everything that counts.
    ///   - fleet: what a member of a fleet knows; nil without one.
    ///   - lines: how much to do: how many lines to write.
    ///   - now: for the pause after a failure.
    /// - Returns: whether there is more.
    func work(_ timetable: inout Timetable, fleet: StoredFleet?, lines: Int, at now: BootInstant) -> Bool
    /// Whether some of that work should not wait until the daemon is idle.
    var isBehind: Bool { get }
    /// Whether `work` waits for the disk, and has to be called again although nothing happens.
    var isWaiting: Bool { get }
    /// Checks that the files of the store are still those that were opened.
    func check() throws(StoreFailure)
    /// Checks them if there were commits since they were compared last.
    func checkWhenIdle() throws(StoreFailure)
    /// Writes the store again, in the place of files that are lost, without the records of a fleet.
    ///
    /// - Parameters:
    ///   - timetable: everything that is known, with the changes that could not be committed.
    ///   - clockStep: set if the system clock was set and this is not stored yet.
    ///   - now: goes into the names of files that are moved aside.
    /// - Returns: where files are kept that had the name of the store; nil if there were none.
    /// - Throws: if this is not possible now.
    func rewrite(_ timetable: borrowing Timetable, clockStep: ClockStep?, at now: Now) throws(StoreFailure) -> String?
    /// How many bases were begun.
    var bases: Int { get }
    /// The pages of 4 KiB that the store takes on the disk.
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
    var count: Int { max(steps.count, fleet?.records.count ?? 0) }

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
    var stepRevision: Revision?
    /// The offset of the clocks that the last daemon held; nil if this is another boot, or the system clock was set since.
    var offset: Duration?
    /// What is known of a fleet.
    var fleet = StoredFleet()
}

extension StoreFailure {
    /// The remedy: a person must do this so that changes are stored again.
    enum Hint: String {
        case makeRoom = "make room on its file system"
        case makeWritable = "see that its user may write there"
        case lookAtDisk = "see the kernel log for faults of the disk, and the limit on the size of files"
        case makeDirectory = "make the directory again; until then the countdowns are in memory alone"
        case mount = "mount it again; until then the countdowns are in memory alone"
        case leaveFilesAlone = "stop countdownd before you move, replace or restore its files"

        /// The hint for a failed system call; nil if its text says all that is known.
        init?(errno code: Int32) {
            switch code {
            case ENOSPC, EDQUOT: self = .makeRoom
            case EACCES, EPERM, EROFS: self = .makeWritable
            case EIO, EFBIG: self = .lookAtDisk
            default: return nil
            }
        }
    }

    /// - Parameters:
    ///   - failure: the call of the system that failed.
    ///   - place: goes before it; nil if the reader knows it.
    init(_ failure: SystemFailure, of place: String? = nil) {
        reason = "\(place.map { "\($0): " } ?? "")\(failure)"
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

/// Why a log has to be put aside.
enum Corruption: Error, Equatable {
    /// A file with this name is missing.
    case missing(String)
    /// The first turn of this file cannot be read, so that nothing says what its lines mean.
    case unreadable(file: String)
    /// A newer daemon has written this file, in this format.
    case newer(Int64, file: String)
    /// This file belongs to another log.
    case foreign(file: String)

    var what: String {
        switch self {
        case .missing(let name): "\(name) is missing"
        case .unreadable(let file): "the beginning of \(file) is no turn of a log"
        case .newer(let format, let file):
            "the format \(format) of \(file) is from a newer countdownd; this one knows formats up to \(StateLine.format)"
        case .foreign(let file): "\(file) is of another log"
        }
    }

    /// The remedy for a person.
    ///
    /// - Parameters:
    ///   - path: the path of the log.
    ///   - place: where it is kept.
    /// - Returns: the end of a sentence.
    func advice(path: String, place: String) -> String {
        switch self {
        case .missing, .foreign:
            "if you find the file, put it into \(place), and move that to \(path) while countdownd is stopped"
        case .newer: "to use it, upgrade countdownd, stop it, and move \(place) back to \(path)"
        case .unreadable:
            "its other lines can be read with an editor; to restore a backup, put it at \(path) while countdownd is stopped"
        }
    }
}

/// Why a store cannot be opened.
enum OpenError: Error {
    /// A living daemon has it; the holder in words: its process and host, if they are known.
    case held(path: String, holder: String)
    /// It cannot be opened now, and stays where it is.
    case unavailable(StoreFailure)
}

extension StoreFailure {
    /// Why a store cannot be opened, as a reason for not storing changes.
    init(_ error: OpenError) {
        switch error {
        case .held(let path, let holder):
            self.init(reason: "\(path) is held by another countdownd: \(holder)", hint: nil)
        case .unavailable(let failure): self = failure
        }
    }
}
