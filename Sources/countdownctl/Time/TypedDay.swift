import Text

/// A day as it is typed.
enum TypedDay: Equatable {
    /// Today or tomorrow: the first on which the time lies ahead.
    case next
    case date(CivilTime)
    /// A day and a month, in the next year that has it.
    case ofYear(month: Int, day: Int)
    /// The next Monday is 0.
    case weekday(Int)
    /// Days after today.
    case later(Int)

    /// Whether it stands for its first moment if no time is given.
    var isDate: Bool {
        switch self {
        case .date, .ofYear: true
        case .next, .weekday, .later: false
        }
    }

    /// The dates that are meant, the first one first; none if no calendar has the date.
    func candidates(from today: CivilTime) -> [CivilTime] {
        switch self {
        case .next: [today, today.adding(days: 1)]
        case .date(let date): date.exists ? [date] : []
        case .later(let days): [today.adding(days: days)]
        case .weekday(let day):
            // 1970-01-01 was a Thursday.
            [0, 7].map { today.adding(days: ((day - today.daysSince1970 - 3) % 7 + 7) % 7 + $0) }
        case .ofYear(let month, let day):
            (today.year...today.year + 8).map { CivilTime(year: $0, month: month, day: day) }
                .filter { $0.exists && $0.daysSince1970 >= today.daysSince1970 }
        }
    }
}

extension TypedDay {
    /// Reads a day; nil, with the place as it was, if none is next.
    static func read(_ scanner: inout TextScanner) -> TypedDay? {
        var ahead = scanner
        guard let day = numbered(&ahead) ?? monthFirst(&ahead) ?? named(&ahead) else { return nil }
        // The T of ISO 8601.
        guard ahead.isAtBoundary || ahead.next == UInt8(ascii: "T") || ahead.next == UInt8(ascii: "t") else {
            return nil
        }
        scanner = ahead
        return day
    }

    /// A day of the week, which may be abbreviated.
    static func weekday(_ scanner: inout TextScanner) -> Int? {
        guard let day = scanner.name({ weekdays[$0.lowercased()] }) else { return nil }
        _ = scanner.skip(".")
        return day
    }

    private static func named(_ scanner: inout TextScanner) -> TypedDay? {
        if scanner.skipWords("day", "after", "tomorrow") { return .later(2) }
        if let days = scanner.name({ relative[$0.lowercased()] }) { return .later(days) }
        return weekday(&scanner).map(TypedDay.weekday)
    }

    /// `2026-12-24`, `20261224`, `24.12.2026`, `24.12.`, `24 Dec`, `24th of December 2026`, `12月24日`.
    private static func numbered(_ scanner: inout TextScanner) -> TypedDay? {
        let start = scanner
        if let run = scanner.integer(digits: 8...8) {
            return .date(CivilTime(year: Int(run / 10_000), month: Int(run / 100 % 100), day: Int(run % 100)))
        }
        if let year = scanner.integer(digits: 4...4) {
            for sign: Unicode.Scalar in ["-", "/"] where scanner.skip(sign) {
                guard let month = scanner.integer(digits: 1...2), scanner.skip(sign),
                    let day = scanner.integer(digits: 1...2)
                else { break }
                return .date(CivilTime(year: Int(year), month: Int(month), day: Int(day)))
            }
            return scanner.skip(name: "年") ? chinese(&scanner, year) : reset(&scanner, to: start)
        }
        if let date = chinese(&scanner, nil) { return date }
        scanner = start
        guard let day = scanner.integer(digits: 1...2) else { return nil }
        if scanner.skip(".") {
            if let month = scanner.integer(digits: 1...2), scanner.skip(".") {
                return dated(scanner.integer(digits: 4...4), Int(month), Int(day))
            }
        } else {
            skipOrdinal(&scanner)
        }
        scanner.skipSpaces()
        _ = scanner.skipWords("of")
        scanner.skipSpaces()
        guard let month = month(&scanner) else { return reset(&scanner, to: start) }
        return dated(year(&scanner), month, Int(day))
    }

    /// `Dec 24`, `December 24th, 2026`.
    private static func monthFirst(_ scanner: inout TextScanner) -> TypedDay? {
        let start = scanner
        guard let month = month(&scanner) else { return nil }
        scanner.skipSpaces()
        guard let day = scanner.integer(digits: 1...2), scanner.next != UInt8(ascii: ":") else {
            return reset(&scanner, to: start)
        }
        skipOrdinal(&scanner)
        guard scanner.isAtBoundary else { return reset(&scanner, to: start) }
        return dated(year(&scanner), month, Int(day))
    }

    private static func chinese(_ scanner: inout TextScanner, _ year: Int64?) -> TypedDay? {
        guard let month = scanner.integer(digits: 1...2), scanner.skip(name: "月"),
            let day = scanner.integer(digits: 1...2), scanner.skip(name: "日") || scanner.skip(name: "号")
        else { return nil }
        return dated(year, Int(month), Int(day))
    }

    private static func reset(_ scanner: inout TextScanner, to start: TextScanner) -> TypedDay? {
        scanner = start
        return nil
    }

    private static func dated(_ year: Int64?, _ month: Int, _ day: Int) -> TypedDay {
        year.map { .date(CivilTime(year: Int($0), month: month, day: day)) } ?? .ofYear(month: month, day: day)
    }

    private static func month(_ scanner: inout TextScanner) -> Int? {
        guard let month = scanner.name({ months[$0.lowercased()] }) else { return nil }
        _ = scanner.skip(".")
        return month
    }

    /// A year of four digits, which is not a time.
    private static func year(_ scanner: inout TextScanner) -> Int64? {
        var ahead = scanner
        _ = ahead.skip(",")
        ahead.skipSpaces()
        guard let year = ahead.integer(digits: 4...4), ahead.isAtBoundary, ahead.next != UInt8(ascii: "-") else {
            return nil
        }
        scanner = ahead
        return year
    }

    /// Skips the letters of `24th`.
    static func skipOrdinal(_ scanner: inout TextScanner) {
        _ = scanner.name { ["st", "nd", "rd", "th"].contains($0) ? true : nil }
    }

    private static let relative = [
        "today": 0, "tomorrow": 1, "heute": 0, "morgen": 1, "übermorgen": 2, "今天": 0, "明天": 1, "后天": 2, "後天": 2,
    ]

    private static let weekdays = numbers(
        """
        monday tuesday wednesday thursday friday saturday sunday,mon tue wed thu fri sat sun,_ tues _ thurs,\
        montag dienstag mittwoch donnerstag freitag samstag sonntag,_ _ _ _ _ sonnabend,\
        周一 周二 周三 周四 周五 周六 周日,星期一 星期二 星期三 星期四 星期五 星期六 星期日,_ _ _ _ _ _ 周天,_ _ _ _ _ _ 星期天,\
        週一 週二 週三 週四 週五 週六 週日
        """,
        from: 0
    )

    private static let months = numbers(
        """
        january february march april may june july august september october november december,\
        jan feb mar apr may jun jul aug sep oct nov dec,januar februar märz april mai juni juli august september oktober \
        november dezember,_ _ mär _ _ _ _ _ sept okt _ dez
        """,
        from: 1
    )

    private static func numbers(_ names: String, from first: Int) -> [String: Int] {
        var found: [String: Int] = [:]
        for list in names.split(separator: ",") {
            for (number, name) in list.split(separator: " ").enumerated() { found[String(name)] = first + number }
        }
        return found
    }
}
