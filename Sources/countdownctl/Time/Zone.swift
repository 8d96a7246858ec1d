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
