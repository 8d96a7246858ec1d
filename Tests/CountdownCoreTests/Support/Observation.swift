@testable import CountdownCore

/// All that can be seen of a timetable: two that look the same here behave the same.
struct Observation: Equatable {
    let revision: Revision
    let oldestRevision: Revision
    let live: Int
    let running: Int
    let paused: Int
    let ended: Int
    let nextDeadline: WallInstant?
    /// What a walk meets.
    let met: [KeyedCountdown]
    /// What is found under the keys of those, and under others that were asked for.
    let found: [Key: KeyedCountdown]
    /// The order in which everything that runs will end.
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
        let met = timetable.known
        self.met = met
        var found: [Key: KeyedCountdown] = [:]
        for key in met.map(\.key) + keys { found[key] = timetable.countdown(under: key) }
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
