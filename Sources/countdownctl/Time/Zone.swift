import Glibc

/// The rules by which the clocks of a place are set.
protocol Zone {
    /// What the clocks show at an instant, in seconds since 1970.
    func civilTime(at seconds: Int64) -> CivilTime

    /// When the clocks show a time, which exists in the calendar.
    func instants(of time: CivilTime) -> CivilInstants
}

/// When the clocks of a place show a time; in seconds since 1970.
enum CivilInstants: Equatable {
    case once(Int64)
    /// Clocks were put back: they showed it before and after.
    case twice(Int64, Int64)
    /// Clocks were put forward over it; the instant is what it would be by the clocks of the hours before or after.
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

    /// mktime(3) with its guess whether daylight saving is in force, -1 where it is to find out.
    private func instant(of time: CivilTime, daylightSaving: Int32) -> Int64? {
        var fields = unsafe tm()
        unsafe fields.tm_year = Int32(time.year - 1_900)
        unsafe fields.tm_mon = Int32(time.month - 1)
        unsafe fields.tm_mday = Int32(time.day)
        unsafe fields.tm_hour = Int32(time.hour)
        unsafe fields.tm_min = Int32(time.minute)
        unsafe fields.tm_sec = Int32(time.second)
        unsafe fields.tm_isdst = daylightSaving
        // -1 is an instant too; that it was filled in tells that it is no failure.
        unsafe fields.tm_wday = -1
        let seconds = unsafe mktime(&fields)
        return unsafe fields.tm_wday >= 0 ? Int64(seconds) : nil
    }
}

extension CivilTime {
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
}

/// A date and a time of day as calendars and clocks show them, without a place.
struct CivilTime: Equatable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// Whether a calendar has the date, and a clock the time.
    var exists: Bool {
        year >= 0 && 1...12 ~= month && 1...Self.days(inMonth: month, of: year) ~= day
            && 0..<24 ~= hour && 0..<60 ~= minute && 0..<60 ~= second
    }

    /// The seconds since 1970 of this time at UTC.
    var secondsAtUTC: Int64 {
        Int64(daysSince1970) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// The same time of day so many days later.
    func adding(days: Int) -> CivilTime {
        var result = self
        result.day += days
        while result.day > Self.days(inMonth: result.month, of: result.year) {
            result.day -= Self.days(inMonth: result.month, of: result.year)
            result.month += 1
            if result.month > 12 {
                result.month = 1
                result.year += 1
            }
        }
        return result
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// The number of the day in the Gregorian calendar, counted from 1970-01-01, for years from 0 on.
    var daysSince1970: Int {
        // Years begin in March, so that a leap day is the last of its year.
        let year = month > 2 ? year : year - 1
        let dayOfYear = ((month + 9) % 12 * 153 + 2) / 5 + day - 1
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + dayOfYear - 719_468
    }
}

/// Microseconds since 1970.
func wallClock() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

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
