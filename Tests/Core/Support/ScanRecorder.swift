import CountdownCore

/// A scan of a timetable, with the countdowns that it has visited.
struct ScanRecorder {
    let id: ScanID
    /// The visited countdowns, in their order.
    private(set) var visited: [KeyedCountdown] = []

    init(_ scene: inout RunningTimetable, live: Scan.StartPoint = .oldest, ended: Scan.StartPoint = .nowhere) {
        id = scene.timetable.openScan(live: live, ended: ended)
    }

    /// Continues the scan.
    @discardableResult
    mutating func scan(_ scene: inout RunningTimetable, limit: Int = .max) -> Scan.Progress {
        var limit = limit
        return scene.timetable.scan(id, budget: &limit) { timetable, slot in
            visited.append(timetable[slot])
            return true
        }
    }

    var keys: [String] { visited.map(\.key.text) }
    var revisions: [Int64] { visited.map(\.revision.number) }

    /// The live countdowns, according to the visits.
    var live: [Key: KeyedCountdown] {
        visited.reduce(into: [:]) { $0[$1.key] = $1.isLive ? $1 : nil }
    }
}

extension RunningTimetable {
    /// The live countdowns.
    var live: [Key: KeyedCountdown] {
        timetable.known.filter(\.isLive).reduce(into: [:]) { $0[$1.key] = $1 }
    }
}
