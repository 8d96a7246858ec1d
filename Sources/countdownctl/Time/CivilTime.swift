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
