@testable import countdownctl

/// A place whose clocks are set once: before that instant they are so far ahead of UTC, then so far.
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
