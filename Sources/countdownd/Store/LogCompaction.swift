import CountdownCore
import Fleet
import Glibc
import System
import Varlink

/// Writing a base.
extension LogStore {
    /// The bytes of a line, besides its text, and its share of a trailer.
    private static let lineBytes = 88
    private static let recordBytes = 160
    private static let pause = Duration.seconds(60)

    private var bytes: Int64 { closedBytes + (segment?.position ?? 0) }

    /// The number of pages of 4 KiB that the files of the log take.
    var logPages: Int { Int(bytes >> 12) }

    /// Whether the log has work that cannot wait until the daemon is idle.
    var isBehind: Bool {
        guard let base else { return hasBegun && bytes >= bytesOfNextLook }
        return base.sync?.state != .running
    }

    /// Whether `work` has to be called again although nothing happens.
    var isWaiting: Bool { base?.sync != nil }

    /// Does some of the work that no turn has to wait for.
    ///
    /// - Parameters:
    ///   - timetable: everything that counts, all of which is stored.
    ///   - fleet: what a member of a fleet knows; nil without one.
    ///   - lines: how many to write.
    ///   - now: this instant.
    /// - Returns: whether there is more.
    func work(_ timetable: inout Timetable, fleet: StoredFleet?, lines: Int, at now: BootInstant) -> Bool {
        if let abandonedScan { timetable.closeScan(abandonedScan) }
        abandonedScan = nil
        guard hasBegun else { return false }
        segment?.prepare()
        if background.takeFailure() { needsBase = true }
        guard base != nil || mustWriteBase(timetable, fleet, at: now) else { return false }
        do throws(SystemFailure) {
            if base == nil { try beginBase(&timetable) }
            return try goOn(&timetable, fleet, lines)
        } catch {
            giveUpBase()
            nextBase = now + Self.pause
            return false
        }
    }

    private func mustWriteBase(_ timetable: borrowing Timetable, _ fleet: StoredFleet?, at now: BootInstant) -> Bool {
        let live = Int64(Double(expectedBytes(timetable, fleet)) * scale)
        let tolerated = live + max(thresholds.tolerated, live / 2)
        bytesOfNextLook = max(tolerated, bytes + thresholds.tolerated / 16)
        let isTime = nextBase.map { $0 <= now } ?? true
        let isWorthwhile =
            bytes > tolerated || needsBase || folder.segmentCount > thresholds.segments
            || state.shifts.count > thresholds.boots
        guard isTime, isWorthwhile else { return false }
        let room = live + live / 10
        guard let free = folder.freeBytes, free < room else {
            hasSaidRoom = false
            return true
        }
        nextBase = now + Self.pause
        if !hasSaidRoom {
            let sentence =
                "the log grows: a new base needs \(room >> 20 + 1) MiB, and its file system has \(free >> 20) MiB"
            log.write(.warning, "\(folder.path): \(sentence)")
        }
        hasSaidRoom = true
        return false
    }

    private func beginBase(_ timetable: inout Timetable) throws(SystemFailure) {
        let replaced = bytes
        try beginSegment()
        guard let number = segment?.number else { return }
        let file = try folder.make(.base, number, synchronously: false)
        let scan = timetable.openScan(live: .oldest, ended: .oldest)
        do throws(SystemFailure) {
            let file = try BaseFile(number, file, state, skipped: skipped)
            base = Base(file, scan: scan, upTo: timetable.revision, replaced: replaced)
        } catch {
            timetable.closeScan(scan)
            folder.remove(LogName.name(.base, number) + LogName.unfinished)
            throw error
        }
        bases += 1
    }

    private func goOn(_ timetable: inout Timetable, _ fleet: StoredFleet?, _ lines: Int) throws(SystemFailure) -> Bool {
        guard let base else { return false }
        var budget = lines
        switch base.stage {
        case .countdowns:
            let isAtEnd = Self.addCountdowns(of: &timetable, to: base, &budget)
            try base.file.endTurn()
            if isAtEnd { base.stage = .records }
        case .records:
            let hasMore = fleet?.records.visit(from: &base.place, budget: &budget) { base.file.add($1, under: $0) }
            try base.file.endTurn()
            if hasMore != true { try end(base, &timetable, fleet) }
        case .syncing(let sync):
            switch sync.state {
            case .running: break
            case .failed: throw SystemFailure("fdatasync", code: EIO)
            case .done: try adopt(base, timetable, fleet)
            }
            return false
        }
        if base.sync == nil, base.file.position - base.syncedBytes >= thresholds.bytesBetweenSyncs {
            base.syncedBytes = base.file.position
            background.sync([base.file.file], upTo: nil, folder: folder)
        }
        return true
    }

    /// - Returns: whether all are added.
    private static func addCountdowns(of timetable: inout Timetable, to base: Base, _ budget: inout Int) -> Bool {
        var isPast = false
        let progress = timetable.scan(base.scan, budget: &budget) { timetable, slot in
            isPast = timetable.revision(at: slot) > base.upTo
            if !isPast { base.file.add(timetable[slot]) }
            return !isPast
        }
        return isPast || progress != .more
    }

    /// Ends the file, and lets it be synced, together with every segment that goes on from it.
    private func end(_ base: Base, _ timetable: inout Timetable, _ fleet: StoredFleet?) throws(SystemFailure) {
        try base.file.end(state)
        // The records in the base are of different moments, all of which are before this one.
        try writeState(with: fleet.map(\.position))
        timetable.closeScan(base.scan)
        base.stage = .syncing(background.finish([base.file.file] + folder.segments(from: base.file.number)))
    }

    /// Gives the base its name, and removes what it replaces.
    private func adopt(_ base: Base, _ timetable: borrowing Timetable, _ fleet: StoredFleet?) throws(SystemFailure) {
        let older = try folder.name(base.file.file, base: base.file.number)
        closedBytes += base.file.position - base.replaced
        self.base = nil
        (needsBase, nextBase, bytesOfNextLook) = (false, nil, 0)
        scale = max(1, Double(base.file.position) / Double(max(1, expectedBytes(timetable, fleet))))
        state.shifts = [:]
        background.forgetFailure()
        background.remove(older, from: folder)
    }

    private func expectedBytes(_ timetable: borrowing Timetable, _ fleet: StoredFleet?) -> Int {
        (timetable.liveCount + timetable.endedCount) * Self.lineBytes + timetable.textBytes
            + (fleet?.records.count ?? 0) * Self.recordBytes
    }

    /// Gives up the base that is being written.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func giveUpBase() -> Bool {
        guard let base else { return false }
        if base.sync == nil { abandonedScan = base.scan }
        folder.remove(LogName.name(.base, base.file.number) + LogName.unfinished)
        self.base = nil
        return true
    }
}
