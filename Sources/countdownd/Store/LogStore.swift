import CountdownCore
import Fleet
import Glibc
import System
import Varlink

/// Stores every change as a line of a log.
///
/// A commit appends its lines and a trailer with one call of the system. When enough lines are dead, everything that counts is written
/// into a new base, a few lines at a time, and the files before it are removed.
final class LogStore: Store {
    /// Commits in quick succession trust the system's reports on the files; every so often they compare them anyway.
    private static let commitsBetweenComparisons = 128
    /// So many ends can be given up before that is stored.
    private static let fewDropped = 1_000

    let log: Log
    let thresholds: StoreThresholds
    private let durability: Durability
    private var directory: StateDirectory
    private(set) var folder: StoreFolder
    var state: StateLine
    var segment: Segment?
    /// The number of the newest segment; 0 if there is none.
    private var lastSegment: Int64
    private var chain: TurnChain
    /// Where the next turn begins in the newest segment, before that is opened.
    private let position: Int64
    /// Whether the next turn needs a segment of its own.
    private var mustBegin: Bool
    /// Whether the name of the segment is not on the disk yet, although each turn has to be.
    private var mustSyncFolder = false
    /// What the start has to do before the first turn; nil when that is done.
    private var start: Start?
    /// Reused, so that its memory is allocated once.
    private var lines = JSONWriter()
    private var commitsUntilComparison = LogStore.commitsBetweenComparisons
    /// How many ends were given up since that was stored.
    private var dropped = 0

    // MARK: Bases

    /// The base that is being written.
    var base: Base?
    /// A scan of a base that was given up.
    var abandonedScan: ScanID?
    /// The bytes of the base and of all segments but the one that is written to.
    var closedBytes: Int64
    /// How many bytes a base took for each byte that was expected: text may need escapes.
    var scale: Double = 1
    /// Below so many bytes no base can be worthwhile.
    var bytesOfNextLook: Int64 = 0
    /// Whether the log has to be replaced by a base, because a file of it is damaged or could not be synced.
    var needsBase: Bool
    /// Before this instant no base is begun, because the last one failed.
    var nextBase: BootInstant?
    /// Whether the log has said how much room a base needs.
    var hasSaidRoom = false
    /// Malformed lines, which stay so that they can be mended.
    let skipped: [SkippedLine]
    let background = Background()
    var bases = 0

    /// What is done once at a start, before any revision is given: what was read may not be what the disk has.
    private struct Start {
        var kept: [String]
        var removed: [String]
        let forgetsFleet: Bool
        let now: WallInstant
    }

    /// - Parameters:
    ///   - contents: of the log.
    ///   - folder: of the log, locked.
    ///   - directory: stays locked as long as the store is open.
    ///   - durability: whether each turn waits for the disk.
    ///   - thresholds: when a base is written.
    ///   - log: of the daemon.
    ///   - now: goes into the names of folders.
    init(
        _ contents: borrowing LogContents,
        in folder: StoreFolder,
        _ directory: consuming StateDirectory,
        durability: Durability,
        thresholds: StoreThresholds,
        log: Log,
        at now: Now
    ) {
        (self.folder, self.durability, self.log) = (folder, durability, log)
        self.directory = directory
        self.thresholds = thresholds
        state = contents.state
        state.synced = durability == .powerLoss ? nil : contents.state.synced ?? contents.chain.turn - 1
        lastSegment = contents.last?.number ?? max(0, contents.base - 1)
        position = contents.last?.position ?? 0
        chain = contents.chain
        mustBegin = contents.beginsSegment
        skipped = contents.skipped
        needsBase = !contents.kept.isEmpty
        closedBytes = contents.bytes
        folder.forget(before: contents.base)
        start = Start(
            kept: contents.kept,
            removed: contents.removed,
            forgetsFleet: contents.forgetsFleet,
            now: now.wall
        )
        folder.beginWatch()
    }

    /// What is left to do in the background uses the folder's descriptor.
    deinit { background.wait() }

    // MARK: The start

    var hasBegun: Bool { start == nil }

    /// Notes in the log that a daemon uses it. Otherwise the log could end with the clean stop before this start, and revisions would
    /// be given again.
    func begin() throws(StoreFailure) {
        guard let start else { return }
        do throws(SystemFailure) {
            if !start.kept.isEmpty {
                let place = try folder.keep(start.kept, as: "damaged", at: start.now)
                self.start?.kept = []
                log.write(.error, "\(folder.path): the files are kept in \(place)")
            }
            if !start.removed.isEmpty {
                // Only when what replaces them is there for good.
                try folder.sync()
                for name in start.removed { folder.remove(name) }
                try folder.sync()
                self.start?.removed = []
            }
            syncSegments()
            if mustBegin {
                try beginSegment(forgettingFleet: start.forgetsFleet)
            } else {
                let file = try folder.file(.segment, lastSegment, synchronously: durability == .powerLoss)
                folder.activate(segment: lastSegment)
                closedBytes -= position
                segment = Segment(lastSegment, file, isSynchronous: durability == .powerLoss, position: position)
                writeState(forgettingFleet: start.forgetsFleet)
                try append()
            }
            try segment?.file.sync()
            try folder.sync()
        } catch {
            closedBytes += segment?.position ?? 0
            (segment, mustBegin) = (nil, true)
            throw StoreFailure(error)
        }
        self.start = nil
    }

    /// Syncs the segments that were read, because they may not be on the disk yet. If one of them cannot be synced, a base replaces
    /// them, because a second sync can succeed without a write.
    private func syncSegments() {
        let isSynced = background.isSure && folder.segments(from: 1).allSatisfy { (try? $0.sync()) != nil }
        if isSynced {
            if state.synced != nil { state.synced = chain.turn - 1 }
        } else {
            background.noteFailure()
            (needsBase, mustBegin) = (true, true)
        }
    }

    private func writeState(forgettingFleet: Bool = false) {
        lines.removeAll()
        state.write(into: &lines)
        if forgettingFleet { FleetLine.nothing.write(into: &lines) }
    }

    // MARK: Commits

    func commit(_ changes: Changes, comparing: Bool) throws(StoreFailure) {
        try begin()
        try checkFiles(comparing: comparing)
        do throws(SystemFailure) {
            try store(changes)
        } catch {
            // A base that is not finished may be what fills the disk.
            guard error.code == ENOSPC || error.code == EDQUOT, giveUpBase() else {
                throw StoreFailure(error)
            }
            do throws(SystemFailure) {
                try store(changes)
            } catch {
                throw StoreFailure(error)
            }
        }
    }

    private func store(_ changes: Changes) throws(SystemFailure) {
        if let step = changes.clockStep, state.offset != step.offset || state.stepRevision != step.revision {
            (state.offset, state.stepRevision) = (step.offset, step.revision)
            mustBegin = true
        }
        if let oldest = changes.fleet?.oldest { state.oldest = max(state.oldest, oldest) }
        if mustBegin || segment.map({ $0.position >= thresholds.segmentBytes }) ?? true { try beginSegment() }
        lines.removeAll()
        if changes.isEmpty || dropped >= Self.fewDropped || changes.fleet?.oldest != nil { state.write(into: &lines) }
        let steps = changes.steps.span
        let boot = state.boot
        // A span lends its elements; an array copies each one and counts its references.
        for index in steps.indices { CountdownLine.write(steps[index].countdown, boot: boot, into: &lines) }
        changes.fleet?.write(into: &lines)
        try append()
        if dropped >= Self.fewDropped { dropped = 0 }
    }

    /// Appends the lines as a turn.
    private func append() throws(SystemFailure) {
        var next = chain
        next.seal(&lines)
        guard lines.count <= TurnChain.longestTurn else { throw SystemFailure("pwrite", code: EFBIG) }
        if mustSyncFolder {
            try folder.sync()
            mustSyncFolder = false
        }
        do throws(SystemFailure) {
            try lines.withBytes { turn throws(SystemFailure) in try segment?.append(turn) }
        } catch {
            takeBack()
            throw error
        }
        chain = next
    }

    /// Makes sure that a turn which was refused is not found later, although all of it may have been written.
    ///
    /// After a failed write nothing is known about the file. So zeros are written over the beginning of the turn, and the next segment
    /// begins with a turn of the same number, by which the refused one is void.
    private func takeBack() {
        segment?.takeBack()
        mustBegin = true
        try? beginSegment()
    }

    /// Begins a segment, whose first turns are the state.
    func beginSegment(forgettingFleet: Bool = false) throws(SystemFailure) {
        let (number, isSynchronous) = (lastSegment + 1, durability == .powerLoss)
        if let synced = background.synced { state.synced = state.synced.map { max($0, synced) } }
        state.wasStopped = false
        let (turns, next) = Segment.firstTurns(of: number, after: chain, state, forgettingFleet: forgettingFleet)
        let file = try folder.make(.segment, number, synchronously: isSynchronous)
        var begun = Segment(number, file, isSynchronous: isSynchronous, position: 0)
        try begun.append(turns.span)
        try folder.name(file, segment: number)
        if let segment {
            closedBytes += segment.position
            if !isSynchronous { background.sync([segment.file], upTo: chain.turn - 1, folder: folder) }
        }
        (segment, lastSegment, chain, mustBegin, mustSyncFolder) = (begun, number, next, false, isSynchronous)
    }

    func drop(_ endings: [Revision]) {
        guard let last = endings.last else { return }
        state.trimmed = max(state.trimmed, last)
        state.oldest = max(state.oldest, last)
        dropped += endings.count
    }

    func close(at revision: Revision) {
        guard hasBegun else { return }
        giveUpBase()
        background.wait()
        state.revision = revision
        // If this fails, the next start assumes a crash, which is right.
        do throws(SystemFailure) {
            if mustBegin { try beginSegment() }
            try segment?.file.sync()
            if state.synced != nil { state.synced = chain.turn }
            state.wasStopped = true
            writeState()
            try append()
            try segment?.file.sync()
            try folder.sync()
        } catch {
            log.write(.debug, "the stop could not be noted: \(error)")
        }
    }

    // MARK: Files

    func check() throws(StoreFailure) {
        guard hasBegun, let segment else { return }
        try folder.checkAll(bytes: segment.position)
        commitsUntilComparison = Self.commitsBetweenComparisons
        // The lock file may have been removed.
        guard !directory.isLocked else { return }
        do throws(OpenError) {
            directory = try StateDirectory.ofStore(at: directory.path)
        } catch {
            throw StoreFailure(error)
        }
    }

    /// - Parameter comparing: whether to compare the segment even if the system has reported nothing.
    /// - Throws: if a file is lost.
    private func checkFiles(comparing: Bool) throws(StoreFailure) {
        commitsUntilComparison -= 1
        let isDoubtful = comparing ? folder.mustCompare : folder.hasReports || segment?.isTruncated == true
        guard commitsUntilComparison > 0, !isDoubtful else { return try check() }
        if comparing, let segment { try folder.check(segment: segment.number, bytes: segment.position) }
    }

    /// Compares the files, if there were commits since they were compared last.
    func checkWhenIdle() throws(StoreFailure) {
        if commitsUntilComparison < Self.commitsBetweenComparisons { try check() }
    }

    func rewrite(_ timetable: borrowing Timetable, clockStep: ClockStep?, at now: Now) throws(StoreFailure) -> String? {
        try folder.checkPlace()
        giveUpBase()
        background.wait()
        if let clockStep { (state.offset, state.stepRevision) = (clockStep.offset, clockStep.revision) }
        state.revision = timetable.revision
        state.oldest = timetable.oldestRevision
        (state.gaps, state.shifts, state.wasStopped) = (timetable.unknownRevisions, [:], false)
        state.store = StateLine.newStore()
        if state.synced != nil { state.synced = 0 }
        let rewrite = StoreRewrite(directory: directory.path, state: state, skipped: skipped, now: now)
        let written: StoreRewrite.Written
        do throws(SystemFailure) {
            written = try rewrite.run(timetable, synchronously: durability == .powerLoss)
        } catch {
            throw StoreFailure(error, of: "no new log can be written: \(directory.path)/\(StoreFolder.rewritten)")
        }
        (folder, segment, chain) = (written.folder, written.segment, written.chain)
        (lastSegment, mustBegin, mustSyncFolder, start) = (written.segment.number, false, false, nil)
        (closedBytes, scale, bytesOfNextLook, needsBase) = (written.baseBytes, 1, 0, false)
        folder.beginWatch()
        return written.kept
    }

    /// Writes the state, and how far the log of a fleet is known, behind everything that a base has.
    func writeState(with position: LogCursor.Position??) throws(SystemFailure) {
        writeState()
        if let position { FleetLine.position(position).write(into: &lines) }
        try append()
    }
}
