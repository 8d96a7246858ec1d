@testable import countdownctl

/// A time zone with one change of its clocks: it has one offset from UTC before that instant and another one after it.
struct TestZone: Zone {
    /// Seconds.
    var offsetBefore: Int64 = 0
    var offsetAfter: Int64 = 0
    /// Seconds since 1970.
    var transition: Int64 = .max

    static let utc = TestZone()

    func civilTime(at seconds: Int64) -> CivilTime {
        CivilTime(secondsAtUTC: seconds + (seconds < transition ? offsetBefore : offsetAfter))
    }

    func instants(of time: CivilTime) -> CivilInstants {
        let guesses = [time.secondsAtUTC - offsetBefore, time.secondsAtUTC - offsetAfter].sorted()
        let right = guesses.filter { civilTime(at: $0) == time }
        if right.isEmpty { return .never(instead: guesses[1]) }
        return right[0] == right[right.count - 1] ? .once(right[0]) : .twice(right[0], right[1])
    }
}
