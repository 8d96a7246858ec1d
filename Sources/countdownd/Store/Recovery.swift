import CountdownCore
import Fleet
import System

/// Reads a log: its contents, as of the clocks now. Nothing is written.
struct Recovery {
    let limits: Limits
    let now: Now
    /// The identity of this boot; empty if it is not known.
    let bootID: String
    let durability: Durability
    /// Whether the daemon is a member of a fleet. The stored clock offset belongs to the engine then: setting the system
    /// clock does not change it.
    var followsEngine = false

    /// Reads everything.
    ///
    /// - Parameter folder: of the log, locked.
    /// - Returns: the contents.
    /// - Throws: `Corruption` if the log has to be put aside, `SystemFailure` if it cannot be read now.
    func load(_ folder: StoreFolder) throws -> LogContents {
        let files = try LogFiles(of: folder, bootID: bootID)
        guard let first = files.last?.state else { return fresh() }
        let isSameBoot = first.bootID == bootID && !bootID.isEmpty
        let isWhole = try isSameBoot || files.endsWithStop()
        var reading = LogReading(
            first,
            isSameBoot: isSameBoot,
            limits: limits,
            now: now,
            followsEngine: followsEngine
        )
        if !isWhole { reading.synced = first.synced ?? .max }
        try reading.read(files)
        return finish(reading, isSameBoot: isSameBoot)
    }

    /// A store without a countdown.
    private func fresh() -> LogContents {
        let clock = clockRevision
        let state = StateLine(bootID: bootID, revision: clock, offset: now.offset)
        var contents = LogContents(timetable: Timetable(limits: limits, revision: Revision(0)), state: state)
        contents.timetable.resume(at: clock, oldest: clock, gaps: [], now: now)
        return contents
    }

    private var clockRevision: Revision { Revision(max(1, min(now.wall.microseconds, Revision.latestClock))) }

    /// Continues at a revision that was never given.
    private func finish(_ reading: consuming LogReading, isSameBoot: Bool) -> LogContents {
        let (last, newest, wasStopped) = (reading.state, reading.newest, reading.wasStopped)
        let (isDamaged, floor, hasFleetLines) = (reading.isDamaged, reading.floor, reading.hasFleetLines)
        var contents = reading.finished()
        var next = max(newest, last.revision)
        contents.state.gaps = last.gaps
        if !wasStopped { next = contents.state.addGap(after: next, clock: clockRevision) }
        contents.timetable.dropEnds(through: contents.state.trimmed)
        let oldest = max(contents.state.oldest, contents.timetable.oldestRevision, floor ?? Revision(0))
        contents.state.dropGaps(upTo: oldest)
        contents.timetable.resume(at: next, oldest: oldest, gaps: contents.state.gaps, now: now)
        let wasSet =
            !followsEngine
            && (now.offset - last.offset).microseconds.magnitude >= ClockOffset.smallestStep.microseconds.magnitude
        contents.offset = isSameBoot && !wasSet ? last.offset : nil
        contents.state.stepRevision = isSameBoot && wasSet ? next : last.stepRevision
        contents.state.bootID = bootID
        contents.state.revision = next
        contents.state.oldest = oldest
        contents.state.offset = contents.offset ?? now.offset
        contents.state.wasStopped = false
        // A file that is kept must not change.
        if !contents.kept.isEmpty { contents.beginsSegment = true }
        if contents.offset == nil || (last.synced == nil) != (durability == .powerLoss) {
            contents.beginsSegment = true
        }
        // The log of a fleet goes on from the countdowns of its member, and from no others.
        if !followsEngine || isDamaged || !contents.skipped.isEmpty { contents.fleet = StoredFleet() }
        if contents.fleet.position == nil { contents.fleet.records = HeldRecords() }
        contents.forgetsFleet = hasFleetLines && contents.fleet.position == nil
        return contents
    }
}

extension StateLine {
    /// An upper bound for the changes that a daemon published but did not store before it died.
    private static let unstoredAtMost: Int64 = 1 << 20
    /// More gaps are not kept: no client has been away for so many crashes.
    private static let mostGaps = 1_000

    /// Notes that a daemon died after a revision.
    ///
    /// - Parameters:
    ///   - newest: the revision. The daemon may have published later ones.
    ///   - clock: where revisions continue, unless that is too near or has passed.
    /// - Returns: the revision after which revisions continue.
    mutating func addGap(after newest: Revision, clock: Revision) -> Revision {
        let next = max(clock, Revision(newest.number + Self.unstoredAtMost))
        gaps.append(Revision(newest.number + 1)...Revision(next.number - 1))
        if gaps.count > Self.mostGaps { oldest = max(oldest, gaps.removeFirst().upperBound) }
        return next
    }

    /// Forgets the gaps before a revision from which no client can resume any more.
    mutating func dropGaps(upTo oldest: Revision) { gaps.removeAll { $0.upperBound <= oldest } }
}
