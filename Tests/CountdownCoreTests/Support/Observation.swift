import CountdownCore

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
    init(of timetable: Timetable, at now: Now, under keys: [Key] = []) {
        revision = timetable.revision
        oldestRevision = timetable.oldestRevision
        live = timetable.liveCount
        running = timetable.runningCount
        paused = timetable.pausedCount
        ended = timetable.endedCount
        nextDeadline = timetable.nextDeadline(at: now)
        let met = timetable.known
        self.met = met
        found = (met.map(\.key) + keys).reduce(into: [:]) { $0[$1] = timetable.countdown(under: $1) }
        endings = timetable.endings(from: now)
    }
}

extension Timetable {
    /// What is known, live and ended, in the order of revisions.
    var known: [KeyedCountdown] {
        var copy = self
        let walk = copy.openScan(live: .oldest, ended: .oldest)
        var limit = Int.max
        var met: [KeyedCountdown] = []
        _ = copy.scan(walk, budget: &limit) { timetable, slot in
            met.append(timetable[slot])
            return true
        }
        return met
    }

    fileprivate func endings(from now: Now) -> [Key] {
        var copy = self
        let late = Now(boot: now.boot + .years(1_000), offset: now.offset)
        var keys: [Key] = []
        while let change = copy.expireNext(at: late) { keys.append(change.countdown.key) }
        return keys
    }
}
