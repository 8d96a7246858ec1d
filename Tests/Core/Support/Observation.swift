@testable import CountdownCore

/// Everything visible of a timetable: two with equal observations behave the same.
struct Observation: Equatable {
    let revision: Revision
    let oldestRevision: Revision
    let live: Int
    let running: Int
    let paused: Int
    let ended: Int
    let nextDeadline: WallInstant?
    /// The countdowns that a scan visits.
    let visited: [KeyedCountdown]
    /// The countdowns that their keys, and the given keys, find.
    let found: [Key: KeyedCountdown]
    /// The keys of the running countdowns, in the order in which they end.
    let endings: [Key]
}

extension Observation {
    init(of timetable: borrowing Timetable, at now: Now, under keys: [Key] = []) {
        revision = timetable.revision
        oldestRevision = timetable.oldestRevision
        live = timetable.liveCount
        running = timetable.runningCount
        paused = timetable.pausedCount
        ended = timetable.endedCount
        nextDeadline = timetable.nextDeadline(at: now)
        let visited = timetable.known
        self.visited = visited
        var found: [Key: KeyedCountdown] = [:]
        for key in visited.map(\.key) + keys { found[key] = timetable.countdown(under: key) }
        self.found = found
        endings = timetable.endings(from: now)
    }
}

extension Timetable {
    /// All countdowns, live and ended, in the order of revisions.
    var known: [KeyedCountdown] {
        (all(in: .live) + all(in: .ended)).sorted { $0.revision < $1.revision }
    }

    private func all(in name: RevisionLists.Name) -> [KeyedCountdown] {
        var countdowns: [KeyedCountdown] = []
        var slot = lists[name].first
        while slot != .none {
            countdowns.append(self[slot])
            slot = lists[name].next(after: slot, in: slab)
        }
        return countdowns
    }

    /// The keys of the running countdowns, in the order in which they end.
    fileprivate func endings(from now: Now) -> [Key] {
        var budget = Int.max
        return soonestRunning(.max, at: now, budget: &budget) { _, _ in true }.slots.map { key(at: $0) }
    }
}
