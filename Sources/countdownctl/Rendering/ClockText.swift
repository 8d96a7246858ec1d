/// Points in time as the clocks of a place show them: the time alone today, with the day's name around today, with the
/// date otherwise.
struct ClockText {
    let zone: any Zone
    /// Microseconds since 1970.
    let now: Int64

    /// `17:30:05`, `tomorrow 09:00:00`, `2026-03-01 09:00:00` of an instant in microseconds since 1970.
    func render(_ instant: Int64) -> String {
        let time = zone.civilTime(at: instant.wholeSeconds)
        let clock = "\(twoDigits(time.hour)):\(twoDigits(time.minute)):\(twoDigits(time.second))"
        switch time.daysSince1970 - zone.civilTime(at: now.wholeSeconds).daysSince1970 {
        case 0: return clock
        case 1: return "tomorrow \(clock)"
        case -1: return "yesterday \(clock)"
        default: return "\(time.year)-\(twoDigits(time.month))-\(twoDigits(time.day)) \(clock)"
        }
    }
}
