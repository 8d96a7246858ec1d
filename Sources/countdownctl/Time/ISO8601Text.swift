/// Dates and times of ISO 8601 as they are typed: `2026-03-01`, `2026-03-01T09:00`, `2026-03-01 09:00:30.5`, with `Z`
/// or an offset behind them, and all of it without its separators, as in `20260301T090000Z`.
enum ISO8601Text {
    /// A calendar date; nil where none stands here.
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

    /// What stands behind a date: nothing, or a time of day with or without an offset.
    static func time(
        _ scanner: inout TextScanner,
        on date: CivilTime,
        _ text: String
    ) throws(ClockTimeInvalid) -> TypedTime {
        var time = date
        var fraction: Int128 = 0
        var isMidnightAtTheEnd = false
        scanner.skipSpaces()
        if !scanner.isAtEnd {
            _ = scanner.skip("T") || scanner.skip("t")
            guard let read = timeOfDay(&scanner) else { throw .notATime(text) }
            (time.hour, time.minute, time.second) = (read.hour, read.minute, read.second)
            fraction = read.fraction
            isMidnightAtTheEnd = read.hour == 24 && read.minute == 0 && read.second == 0 && fraction == 0
            if isMidnightAtTheEnd { time.hour = 0 }
        }
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

    private typealias TimeOfDay = (hour: Int, minute: Int, second: Int, fraction: Int128)

    private static func timeOfDay(_ scanner: inout TextScanner) -> TimeOfDay? {
        var run: (hour: Int64, minute: Int64, second: Int64) = (0, 0, 0)
        if let digits = scanner.integer(digits: 6...6) {
            run = (digits / 10_000, digits / 100 % 100, digits % 100)
        } else if let digits = scanner.integer(digits: 4...4) {
            run = (digits / 100, digits % 100, 0)
        } else {
            guard let hour = scanner.integer(digits: 2...2), scanner.skip(":"),
                let minute = scanner.integer(digits: 2...2)
            else { return nil }
            run = (hour, minute, 0)
            if scanner.skip(":") {
                guard let second = scanner.integer(digits: 2...2) else { return nil }
                run.second = second
            }
        }
        var fraction: Int128 = 0
        if scanner.next == UInt8(ascii: "."), let part = scanner.decimal() { fraction = part.times(1_000_000) }
        return (Int(run.hour), Int(run.minute), Int(run.second), fraction)
    }

    /// The seconds that local time is ahead of UTC; nil where no offset stands here.
    private static func offset(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeInvalid) -> Int64? {
        if scanner.skip("Z") || scanner.skip("z") { return 0 }
        let sign: Int64
        if scanner.skip("+") { sign = 1 } else if scanner.skip("-") { sign = -1 } else { return nil }
        var hours: Int64
        var minutes: Int64 = 0
        if let run = scanner.integer(digits: 4...4) {
            (hours, minutes) = (run / 100, run % 100)
        } else {
            guard let read = scanner.integer(digits: 2...2) else { throw .notATime(text) }
            hours = read
            if scanner.skip(":") {
                guard let read = scanner.integer(digits: 2...2) else { throw .notATime(text) }
                minutes = read
            }
        }
        guard hours < 24, minutes < 60 else { throw .noSuchTime(text) }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
