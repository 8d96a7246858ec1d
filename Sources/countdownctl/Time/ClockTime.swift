import Text

/// A point in time as it is typed: `17:30`, `5pm`, `5:30 pm`, `tomorrow 9:00`, `9am tomorrow`, ISO 8601 with or without an
/// offset, and `@` with the seconds since 1970.
struct ClockTimeParser {
    /// Microseconds since 1970.
    let now: Int64
    let zone: any Zone

    /// The instant that is meant, which lies ahead.
    func parse(_ text: String) throws(ClockTimeError) -> ClockTime {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        let found = try point(&scanner, text)
        scanner.skipSpaces()
        guard scanner.isAtEnd else { throw notATime(text) }
        return try ahead(found, text)
    }

    private func point(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeError) -> ParsedTime {
        if scanner.skip("@") {
            guard let seconds = scanner.decimal(), seconds.digits <= TextScanner.digitLimit else {
                throw .notAnEpoch(text)
            }
            return .instant(seconds.times(1_000_000))
        }
        let first = scanner.word()
        if !first.isEmpty {
            guard let days = Self.days(until: first) else { throw notATime(text) }
            scanner.skipSpaces()
            _ = scanner.skipWord("at")
            return .onDay(try timeOfDay(&scanner, text).adding(days: days))
        }
        var dated = scanner
        if let date = ISO8601Parser.date(&dated) {
            scanner = dated
            return try ISO8601Parser.time(&scanner, on: date, text)
        }
        let time = try timeOfDay(&scanner, text)
        let last = scanner.word()
        if last.isEmpty { return .next(time) }
        guard let days = Self.days(until: last) else { throw notATime(text) }
        return .onDay(time.adding(days: days))
    }

    private static func days(until day: String) -> Int? { ["today": 0, "tomorrow": 1][day.lowercased()] }

    /// `9:00`, `9:00:30`, `9am` or `9:00 am`, on the day that it is now.
    private func timeOfDay(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeError) -> CivilTime {
        scanner.skipSpaces()
        guard let hour = scanner.integer(digits: 1...2) else { throw notATime(text) }
        var time = zone.civilTime(at: now.wholeSeconds)
        (time.hour, time.minute, time.second) = (Int(hour), 0, 0)
        let hasMinutes = scanner.skip(":")
        if hasMinutes {
            guard let minute = scanner.integer(digits: 2...2) else { throw notATime(text) }
            time.minute = Int(minute)
            if scanner.skip(":") {
                guard let second = scanner.integer(digits: 2...2) else { throw notATime(text) }
                time.second = Int(second)
            }
        }
        scanner.skipSpaces()
        if let half = scanner.skipWord("am") ? 0 : scanner.skipWord("pm") ? 12 : nil {
            guard 1...12 ~= time.hour else { throw wrongTime(scanner, text) }
            time.hour = time.hour % 12 + half
            scanner.skipSpaces()
        } else if !hasMinutes {
            throw scanner.isAtEnd && time.hour <= 24 ? .hourAlone(text, hour: time.hour) : notATime(text)
        }
        guard time.exists else { throw wrongTime(scanner, text) }
        return time
    }

    /// That no clock shows the time, if only a day follows.
    private func wrongTime(_ rest: TextScanner, _ text: String) -> ClockTimeError {
        var rest = rest
        rest.skipSpaces()
        return rest.isAtEnd || Self.days(until: rest.word()) != nil && rest.isAtEnd ? .noSuchTime(text) : notATime(text)
    }

    private func notATime(_ text: String) -> ClockTimeError {
        DurationParser.isMeant(by: text) ? .isDuration(text) : .notATime(text)
    }

    /// The instant that a time names, if it lies ahead.
    private func ahead(_ typed: ParsedTime, _ text: String) throws(ClockTimeError) -> ClockTime {
        switch typed {
        case .instant(let microseconds):
            guard microseconds > now else { throw .passed(text) }
            guard let instant = Int64(exactly: microseconds), instant - now <= DurationParser.longest else {
                throw .tooFar(text)
            }
            return ClockTime(instant: instant)
        case .onDay(let time):
            guard let found = soonest(time) else { throw .passed(text) }
            guard found.instant - now <= DurationParser.longest else { throw .tooFar(text) }
            return found
        case .next(let time):
            if let today = soonest(time) { return today }
            guard var tomorrow = soonest(time.adding(days: 1)) else { throw .passed(text) }
            tomorrow.notes.insert(.passedToday, at: 0)
            return tomorrow
        }
    }

    /// The first instant ahead at which the clocks show a time.
    private func soonest(_ time: CivilTime) -> ClockTime? {
        let found: ClockTime
        switch zone.instants(of: time) {
        case .once(let seconds): found = ClockTime(seconds: seconds)
        case .never(let seconds): found = ClockTime(seconds: seconds, notes: [.skipped])
        case .twice(let first, let second):
            let first = ClockTime(seconds: first, notes: [.firstOfTwo])
            found = first.instant > now ? first : ClockTime(seconds: second, notes: [.secondOfTwo])
        }
        return found.instant > now ? found : nil
    }
}

/// A parsed time, before it is resolved to an instant.
enum ParsedTime {
    /// Microseconds since 1970.
    case instant(Int128)
    /// A time of a day that was named.
    case onDay(CivilTime)
    /// A time of day, today's first.
    case next(CivilTime)
}

/// An instant that was typed, with notes on how it was understood.
struct ClockTime: Equatable {
    /// Microseconds since 1970.
    let instant: Int64
    var notes: [Note] = []

    enum Note: Equatable {
        /// The time has passed today, so it is tomorrow's.
        case passedToday
        /// Clocks are put forward over it.
        case skipped
        /// Clocks are put back, and show it twice.
        case firstOfTwo
        case secondOfTwo
    }
}

extension ClockTime {
    fileprivate init(seconds: Int64, notes: [Note] = []) {
        self.init(instant: seconds * 1_000_000, notes: notes)
    }
}

extension Int64 {
    /// The whole seconds in a number of microseconds, rounded down.
    var wholeSeconds: Int64 { self / 1_000_000 - (self % 1_000_000 < 0 ? 1 : 0) }

    /// This minus another number, or the largest or smallest number if that does not fit: the daemon of another machine
    /// can answer any number.
    func clampedDifference(from other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}

/// Dates and times of ISO 8601 as they are typed: `2026-03-01`, `2026-03-01T09:00`, `2026-03-01 09:00:30.5`, with `Z`
/// or an offset behind them, and all of it without its separators, as in `20260301T090000Z`.
enum ISO8601Parser {
    /// A calendar date; nil if the text does not begin with a date.
    static func date(_ scanner: inout TextScanner) -> CivilTime? {
        if let run = scanner.integer(digits: 8...8) {
            return CivilTime(year: Int(run / 10_000), month: Int(run / 100 % 100), day: Int(run % 100))
        }
        guard let year = scanner.integer(digits: 4...4), scanner.skip("-"),
            let month = scanner.integer(digits: 2...2), scanner.skip("-"),
            let day = scanner.integer(digits: 2...2)
        else { return nil }
        return CivilTime(year: Int(year), month: Int(month), day: Int(day))
    }

    /// The text after a date: nothing, or a time of day with or without an offset.
    static func time(
        _ scanner: inout TextScanner,
        on date: CivilTime,
        _ text: String
    ) throws(ClockTimeError) -> ParsedTime {
        var (time, fraction) = (date, Int128(0))
        scanner.skipSpaces()
        if !scanner.isAtEnd {
            _ = scanner.skip("T") || scanner.skip("t")
            guard let read = timeOfDay(&scanner, on: date) else { throw .notATime(text) }
            (time, fraction) = read
        }
        let isMidnightAtTheEnd = (time.hour, time.minute, time.second, fraction) == (24, 0, 0, 0)
        if isMidnightAtTheEnd { time.hour = 0 }
        guard time.exists else { throw .noSuchTime(text) }
        if isMidnightAtTheEnd { time = time.adding(days: 1) }
        scanner.skipSpaces()
        if let offset = try offset(&scanner, text) {
            return .instant(Int128(time.secondsAtUTC - offset) * 1_000_000 + fraction)
        }
        // A local time is looked up in whole seconds.
        guard fraction == 0 else { throw .fractionWithoutOffset(text) }
        return .onDay(time)
    }

    /// A time of a day, and the fraction of a second in microseconds.
    private static func timeOfDay(_ scanner: inout TextScanner, on date: CivilTime) -> (CivilTime, Int128)? {
        var time = date
        if let run = scanner.integer(digits: 6...6) ?? scanner.integer(digits: 4...4).map({ $0 * 100 }) {
            (time.hour, time.minute, time.second) = (Int(run / 10_000), Int(run / 100 % 100), Int(run % 100))
        } else {
            guard let hour = scanner.integer(digits: 2...2), scanner.skip(":"),
                let minute = scanner.integer(digits: 2...2)
            else { return nil }
            (time.hour, time.minute) = (Int(hour), Int(minute))
            if scanner.skip(":") {
                guard let second = scanner.integer(digits: 2...2) else { return nil }
                time.second = Int(second)
            }
        }
        let fraction = scanner.next == UInt8(ascii: ".") ? scanner.decimal()?.times(1_000_000) : nil
        return (time, fraction ?? 0)
    }

    /// The offset from UTC in seconds; nil if the text has no offset.
    private static func offset(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeError) -> Int64? {
        if scanner.skip("Z") || scanner.skip("z") { return 0 }
        guard let sign: Int64 = scanner.skip("+") ? 1 : scanner.skip("-") ? -1 : nil else { return nil }
        var run = scanner.integer(digits: 4...4)
        if run == nil {
            guard let hours = scanner.integer(digits: 2...2) else { throw .notATime(text) }
            let minutes = scanner.skip(":") ? scanner.integer(digits: 2...2) : 0
            run = minutes.map { hours * 100 + $0 }
        }
        guard let (hours, minutes) = run?.quotientAndRemainder(dividingBy: 100) else { throw .notATime(text) }
        guard hours < 24, minutes < 60 else { throw .noSuchTime(text) }
        return sign * (hours * 3_600 + minutes * 60)
    }
}

/// Why a text is not a time in the future; each case carries the text.
enum ClockTimeError: Error, Equatable {
    case notATime(String)
    /// A length of time was typed.
    case isDuration(String)
    case notAnEpoch(String)
    /// An hour without minutes, which may be in the morning or in the evening.
    case hourAlone(String, hour: Int)
    /// No calendar or clock shows it.
    case noSuchTime(String)
    /// A fraction of a second in a local time.
    case fractionWithoutOffset(String)
    case passed(String)
    case tooFar(String)
}

extension ClockTimeError: CustomStringConvertible {
    /// The message: what is wrong, and what is expected.
    var description: String { sentence(showing: quoted) }

    /// The message, with times that may be meant as `show` writes them.
    func sentence(showing show: (String) -> String) -> String {
        switch self {
        case .notATime(let text):
            "invalid time \(quoted(text)); use for example 17:30, 'tomorrow 9:00', 2026-03-01T09:00 or @1772355600"
        case .isDuration(let text):
            "\(quoted(text)) is a duration; --until takes a time such as 17:30"
        case .hourAlone(let text, let hour):
            "invalid time \(quoted(text)): missing minutes; did you mean \(Self.readings(text, hour).map(show).joined(separator: " or "))?"
        case .notAnEpoch(let text):
            "invalid time \(quoted(text)): @ takes the seconds since 1970, as in @1772355600"
        case .noSuchTime(let text): "invalid time \(quoted(text)): no such day or time of day"
        case .fractionWithoutOffset(let text):
            "invalid time \(quoted(text)): a fraction of a second needs Z or an offset, as in 2026-03-01T09:00:00.5Z"
        case .passed(let text): "time \(quoted(text)) has passed; --until takes a time in the future"
        case .tooFar(let text): "time \(quoted(text)) is too far ahead; the maximum is 100 years"
        }
    }

    private static func readings(_ text: String, _ hour: Int) -> [String] {
        (1...12 ~= hour ? ["am", "pm"] : [":00"]).map { text + $0 }
    }
}

extension ClockTime.Note {
    func sentence(about text: String) -> String {
        switch self {
        case .passedToday: "\(quoted(text)) has passed today; using tomorrow"
        case .skipped: "\(quoted(text)) is skipped when the clocks go forward; using the time after the gap"
        case .firstOfTwo: "\(quoted(text)) occurs twice when the clocks go back; using the first"
        case .secondOfTwo: "\(quoted(text)) occurs twice when the clocks go back; using the second"
        }
    }
}
