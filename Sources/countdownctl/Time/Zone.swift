import Glibc
import System

/// The rules by which the clocks of a place are set.
protocol Zone: Sendable {
    /// The civil time at an instant, in seconds since 1970.
    func civilTime(at seconds: Int64) -> CivilTime

    /// When the clocks show a time, which exists in the calendar.
    func instants(of time: CivilTime) -> CivilInstants
}

/// When the clocks of a place show a time; in seconds since 1970.
enum CivilInstants: Equatable {
    case once(Int64)
    /// Clocks were put back: they showed it before and after.
    case twice(Int64, Int64)
    /// Clocks went forward over it; the instant is computed with the offset before or after the change.
    case never(instead: Int64)
}

/// The zone that `$TZ`, or else /etc/localtime, names.
struct LocalZone: Zone {
    init() { tzset() }

    func civilTime(at seconds: Int64) -> CivilTime {
        var fields = unsafe tm()
        var seconds = time_t(seconds)
        guard unsafe localtime_r(&seconds, &fields) != nil else { return CivilTime(year: 1970, month: 1, day: 1) }
        return unsafe CivilTime(fields)
    }

    func instants(of time: CivilTime) -> CivilInstants {
        let guesses = [-1, 0, 1].compactMap { instant(of: time, daylightSaving: $0) }
        let right = Set(guesses.filter { civilTime(at: $0) == time }).sorted()
        switch (right.first, right.last) {
        case (let first?, let last?): return first == last ? .once(first) : .twice(first, last)
        default: return .never(instead: guesses.max() ?? time.secondsAtUTC)
        }
    }

    /// mktime(3) with a guess whether daylight saving time is in force; -1 lets it decide.
    private func instant(of time: CivilTime, daylightSaving: Int32) -> Int64? {
        var fields = unsafe time.fields
        unsafe fields.tm_isdst = daylightSaving
        // -1 is a valid instant; a failure leaves tm_wday unset.
        unsafe fields.tm_wday = -1
        let seconds = unsafe mktime(&fields)
        return unsafe fields.tm_wday >= 0 ? Int64(seconds) : nil
    }
}

/// A date and a time of day without a place, by the proleptic Gregorian calendar of the C library.
struct CivilTime: Equatable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0
}

extension CivilTime {
    /// The time at UTC, in seconds since 1970; 1970-01-01 if the C library cannot represent it.
    init(secondsAtUTC seconds: Int64) {
        var fields = unsafe tm()
        var seconds = time_t(seconds)
        guard unsafe gmtime_r(&seconds, &fields) != nil else {
            self.init(year: 1970, month: 1, day: 1)
            return
        }
        unsafe self.init(fields)
    }

    fileprivate init(_ fields: tm) {
        unsafe self.init(
            year: Int(fields.tm_year) + 1_900,
            month: Int(fields.tm_mon) + 1,
            day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour),
            minute: Int(fields.tm_min),
            second: Int(fields.tm_sec)
        )
    }

    fileprivate var fields: tm {
        var fields = unsafe tm()
        unsafe fields.tm_year = Int32(clamping: year - 1_900)
        unsafe fields.tm_mon = Int32(clamping: month - 1)
        unsafe fields.tm_mday = Int32(clamping: day)
        unsafe fields.tm_hour = Int32(clamping: hour)
        unsafe fields.tm_min = Int32(clamping: minute)
        unsafe fields.tm_sec = Int32(clamping: second)
        return unsafe fields
    }

    /// The seconds since 1970 of this time at UTC. Fields out of range carry over, as timegm(3) has it.
    var secondsAtUTC: Int64 {
        var fields = unsafe fields
        return unsafe Int64(timegm(&fields))
    }

    /// Whether a calendar has the date and a clock the time: nothing carries over.
    var exists: Bool { CivilTime(secondsAtUTC: secondsAtUTC) == self }

    /// The same time of day some days later.
    func adding(days: Int) -> CivilTime {
        var later = self
        later.day += days
        return CivilTime(secondsAtUTC: later.secondsAtUTC)
    }

    /// The beginning of its day.
    var date: CivilTime { CivilTime(year: year, month: month, day: day) }

    /// Its day as ISO 8601 has it.
    var iso: String { "\(year)-\(twoDigits(month))-\(twoDigits(day))" }

    /// The number of the day, counted from 1970-01-01.
    var daysSince1970: Int { Int(date.secondsAtUTC / 86_400) }
}

/// Points in time as the clocks of a place show them: the time alone today, with the day's name around today, with the
/// date otherwise.
struct ClockText {
    let zone: any Zone
    /// Microseconds since 1970.
    let now: Int64

    /// The local time zone and the current time.
    static var local: ClockText { ClockText(zone: LocalZone(), now: WallClock.now) }

    /// `17:30:05`, `tomorrow 09:00:00`, `2026-03-01 09:00:00` of an instant in microseconds since 1970.
    func render(_ instant: Int64) -> String {
        let time = zone.civilTime(at: instant.wholeSeconds)
        let clock = "\(twoDigits(time.hour)):\(twoDigits(time.minute)):\(twoDigits(time.second))"
        switch time.daysSince1970 - zone.civilTime(at: now.wholeSeconds).daysSince1970 {
        case 0: return clock
        case 1: return "tomorrow \(clock)"
        case -1: return "yesterday \(clock)"
        default: return "\(time.iso) \(clock)"
        }
    }
}
