import CountdownCore

/// Somebody who walks through a timetable, and what it was shown.
struct Walker {
    let id: WalkID
    /// What was met, in that order.
    private(set) var met: [Countdown] = []

    init(_ scene: inout RunningTimetable, live: Walk.Start = .oldest, ended: Walk.Start = .nowhere) {
        id = scene.timetable.openWalk(live: live, ended: ended)
    }

    /// Goes on by as many entries at most.
    @discardableResult
    mutating func walk(_ scene: inout RunningTimetable, limit: Int = .max) -> Walk.Progress {
        var limit = limit
        return scene.timetable.walk(id, limit: &limit) { timetable, slot in
            met.append(timetable[slot])
            return true
        }
    }

    var keys: [String] { met.map(\.key.text) }
    var revisions: [Int64] { met.map(\.revision.number) }

    /// The live ones, as whoever has heard all this knows them.
    var live: [Key: Countdown] {
        met.reduce(into: [:]) { $0[$1.key] = $1.isLive ? $1 : nil }
    }
}

extension RunningTimetable {
    /// The live ones, as they are.
    var live: [Key: Countdown] {
        timetable.known.filter(\.isLive).reduce(into: [:]) { $0[$1.key] = $1 }
    }
}
