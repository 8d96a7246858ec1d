import CountdownCore

/// Somebody who walks through a timetable, and what it was shown.
struct Walker {
    let id: ScanID
    /// What was met, in that order.
    private(set) var met: [KeyedCountdown] = []

    init(_ scene: inout RunningTimetable, live: Scan.Start = .oldest, ended: Scan.Start = .nowhere) {
        id = scene.timetable.openScan(live: live, ended: ended)
    }

    /// Goes on by as many entries at most.
    @discardableResult
    mutating func walk(_ scene: inout RunningTimetable, limit: Int = .max) -> Scan.Progress {
        var limit = limit
        return scene.timetable.scan(id, budget: &limit) { timetable, slot in
            met.append(timetable[slot])
            return true
        }
    }

    var keys: [String] { met.map(\.key.text) }
    var revisions: [Int64] { met.map(\.revision.number) }

    /// The live ones, as whoever has heard all this knows them.
    var live: [Key: KeyedCountdown] {
        met.reduce(into: [:]) { $0[$1.key] = $1.isLive ? $1 : nil }
    }
}

extension RunningTimetable {
    /// The live ones, as they are.
    var live: [Key: KeyedCountdown] {
        timetable.known.filter(\.isLive).reduce(into: [:]) { $0[$1.key] = $1 }
    }
}
