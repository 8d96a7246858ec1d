/// A length of time as it is typed: `90`, `90s`, `1h30m`, `1 h 30 min`, `1 hour and 30 minutes`, `1.5h`, `1,5h`, `1½ h`,
/// `half an hour`, `5 Min.`, `5分钟`, `250ms`, and as terminal timers have it, `1:30`, `1:02:03` and `1d 2:30:00`. The units
/// are those of systemd.time(7) up to the week, each smaller than the one before it, with their names in English, German
/// and Chinese.
public enum DurationParser {
    /// 100 years, the longest countdown.
    public static let longest: Int64 = 100 * 36_525 * 864 * 1_000_000

    /// The length in microseconds, a fraction of one dropped.
    public static func parse(_ text: String) throws(DurationError) -> Int64 {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        if scanner.isAtEnd { throw .empty }
        if scanner.next == UInt8(ascii: "-") || scanner.next == UInt8(ascii: "+") { throw .signed(text) }
        var ahead = scanner
        let isClock = ahead.integer(digits: 1...TextScanner.digitLimit) != nil && ahead.skip(":")
        let length = isClock ? try clockForm(&scanner, text) : try unitForm(&scanner, text)
        guard let microseconds = Int64(exactly: length), microseconds <= longest else { throw .tooLong(text) }
        return microseconds
    }

    /// Whether the text is meant as a duration: it is valid, lacks a unit at its end, has a unit of the calendar, a comma
    /// or a point that may separate thousands, or units in another order.
    public static func isMeant(by text: String) -> Bool {
        do {
            _ = try parse(text)
            return true
        } catch {
            switch error {
            case .missingUnit, .calendarUnit, .groupedDigits, .unordered: return true
            default: return false
            }
        }
    }

    /// Whether it reads as a length.
    public static func isRight(_ text: String) -> Bool { (try? parse(text)) != nil }

    /// Whether a text begins with a number, in digits or a word, and its unit.
    public static func begins(_ text: String) -> Bool {
        var scanner = TextScanner(text)
        guard number(&scanner) != nil else { return false }
        scanner.skipSpaces()
        return scanner.name({ DurationUnit($0) }) != nil && scanner.isAtBoundary
    }

    /// The number of days of a duration in days and weeks; nil for any other text.
    public static func days(_ text: String) -> Int? {
        let unit = String(text.reversed().prefix { $0.isLetter }.reversed())
        var scanner = TextScanner(unit)
        guard let length = try? parse(text), let last = scanner.name({ DurationUnit($0) }),
            last == .day || last == .week
        else { return nil }
        let days = length.quotientAndRemainder(dividingBy: DurationUnit.day.microseconds)
        return days.remainder == 0 ? Int(days.quotient) : nil
    }

    /// `1h30m`, `90`: numbers with their units, or one number of seconds.
    private static func unitForm(_ scanner: inout TextScanner, _ text: String) throws(DurationError) -> Int128 {
        var length: Int128 = 0
        var previous: DurationUnit?
        var (isOrdered, isJoined) = (true, false)
        while true {
            if previous == .day || previous == .week, let clock = clock(&scanner) {
                length += clock
                break
            }
            let unit = try term(&scanner, after: previous, isJoined: isJoined, adding: &length, text)
            guard length <= longest else { throw .tooLong(text) }
            isOrdered = isOrdered && previous.map { $0.rawValue > unit.rawValue } ?? true
            previous = unit
            scanner.skipSpaces()
            if scanner.isAtEnd { break }
            isJoined = skipConjunction(&scanner)
        }
        guard isOrdered else { throw .unordered(text, sum: Int64(clamping: length)) }
        return length
    }

    /// Reads a number and its unit, and adds their product.
    private static func term(
        _ scanner: inout TextScanner,
        after previous: DurationUnit?,
        isJoined: Bool,
        adding length: inout Int128,
        _ text: String
    ) throws(DurationError) -> DurationUnit {
        let start = scanner
        // `1h a minute of silence` is a label.
        guard let number = number(&scanner), !number.isArticle || previous == nil || isJoined else {
            throw .notADuration(text)
        }
        guard number.digits <= TextScanner.digitLimit else { throw .tooLong(text) }
        if let readings = number.groupedReadings, previous == nil || number.separator == "," {
            throw .groupedDigits(text, readings: readings.map { scanner.text(with: $0, since: start) })
        }
        scanner.skipSpaces()
        let unit = try unit(&scanner, of: number, after: previous, text)
        _ = scanner.skip(".")
        length += number.times(unit.microseconds)
        if scanner.skipWords("and", "a", "half") || scanner.skip(name: "半") {
            length += Int128(unit.microseconds / 2)
        }
        _ = scanner.skip(name: "后") || scanner.skip(name: "後") || scanner.skip(name: "之后")
        return unit
    }

    /// A number in digits or in words, with a half behind it or not.
    private static func number(_ scanner: inout TextScanner) -> DecimalNumber? {
        guard var number = scanner.decimal() ?? NumberWord.read(&scanner) else { return nil }
        if scanner.skip(name: "个") || scanner.skip(name: "個"), scanner.skip(name: "半") {
            number.hasHalf = true
        } else if scanner.skipWords("and", "a", "half") {
            number.hasHalf = true
        }
        return number
    }

    /// Skips the comma of `1h, 30m` and the word of `1 hour and 30 minutes`.
    private static func skipConjunction(_ scanner: inout TextScanner) -> Bool {
        _ = scanner.skip(",")
        scanner.skipSpaces()
        guard scanner.skipWord("and") || scanner.skipWord("und") else { return false }
        scanner.skipSpaces()
        return true
    }

    private static func unit(
        _ scanner: inout TextScanner,
        of number: DecimalNumber,
        after previous: DurationUnit?,
        _ text: String
    ) throws(DurationError) -> DurationUnit {
        if let unit = scanner.name({ DurationUnit($0) }) { return unit }
        let name = scanner.word()
        guard name.isEmpty, !number.isWord else {
            throw DurationUnit.ofCalendar.contains(name)
                ? .calendarUnit(text, unit: name) : number.isWord ? .notADuration(text) : .unknownUnit(text, unit: name)
        }
        guard scanner.isAtEnd else { throw .notADuration(text) }
        guard let previous else { return .second }
        throw .missingUnit(text, previous: previous)
    }

    /// `2:30:00` behind days.
    private static func clock(_ scanner: inout TextScanner) -> Int128? {
        var ahead = scanner
        guard let hours = ahead.integer(digits: 1...2), ahead.skip(":"), let minutes = ahead.integer(digits: 2...2),
            ahead.skip(":"), let seconds = ahead.integer(digits: 2...2), ahead.isAtEnd, hours < 24, minutes < 60,
            seconds < 60
        else { return nil }
        scanner = ahead
        return Int128((hours * 60 + minutes) * 60 + seconds) * 1_000_000
    }

    /// `1:30`, `1:02:03`: minutes and seconds, before them hours; only the first may be above 59.
    private static func clockForm(_ scanner: inout TextScanner, _ text: String) throws(DurationError) -> Int128 {
        guard let first = scanner.integer(digits: 1...TextScanner.digitLimit) else { throw .notADuration(text) }
        var length = Int128(first)
        var fields = 1
        while fields < 3, scanner.skip(":") {
            guard let field = scanner.integer(digits: 2...2), field < 60 else { throw .clockField(text) }
            length = length * 60 + Int128(field)
            fields += 1
        }
        scanner.skipSpaces()
        guard scanner.isAtEnd else { throw .clockField(text) }
        return length * 1_000_000
    }
}

/// Why a text is not a duration; each case carries the text.
public enum DurationError: Error, Equatable {
    /// The text is empty.
    case empty
    /// It has no form of a duration.
    case notADuration(String)
    /// It has a sign.
    case signed(String)
    /// A number without a unit after one with a unit.
    case missingUnit(String, previous: DurationUnit)
    /// A comma or a point that is a decimal point or separates thousands, with the text for each.
    case groupedDigits(String, readings: [String])
    /// Units that do not get smaller, with their sum in microseconds.
    case unordered(String, sum: Int64)
    /// Months and years, which are of unequal length.
    case calendarUnit(String, unit: String)
    /// A unit that is not one.
    case unknownUnit(String, unit: String)
    /// A field of `H:MM:SS` that is not of two digits below 60.
    case clockField(String)
    /// More than the longest duration.
    case tooLong(String)
}

extension DurationError: CustomStringConvertible {
    /// The message: what is wrong, and what is expected.
    public var description: String { sentence(proposing: readings.map(quoted)) }

    /// The message, with proposals of what may be meant.
    public func sentence(proposing proposals: [String]) -> String {
        message + (proposals.isEmpty ? "" : "; did you mean \(proposals.joined(separator: " or "))?")
    }

    private var message: String {
        switch self {
        case .empty: return "missing duration; use for example 5m, 90s or 1:30"
        case .notADuration(let text): return "invalid duration \(quoted(text)); use for example 5m, 90s or 1:30"
        case .signed(let text):
            return "invalid duration \(quoted(text)): it must not have a sign, as in \(Self.unsigned(text))"
        case .missingUnit(let text, _): return "invalid duration \(quoted(text)): missing unit"
        case .groupedDigits(let text, _): return "invalid duration \(quoted(text)): three digits may be thousands"
        case .unordered(let text, _):
            return "invalid duration \(quoted(text)): each unit must be smaller than the one before"
        case .calendarUnit(let text, let unit):
            let hint = unit == "M" ? "M means months, and m minutes" : "use days or weeks, such as 30d"
            return "invalid duration \(quoted(text)): months and years differ in length; \(hint)"
        case .unknownUnit(let text, let unit):
            let hint =
                readings.isEmpty ? "unknown unit \(quoted(unit)); use us, ms, s, m, h, d or w" : "units are lower case"
            return "invalid duration \(quoted(text)): \(hint)"
        case .clockField(let text):
            return
                "invalid duration \(quoted(text)): minutes and seconds have two digits up to 59, as in 1:05 or 1:02:03"
        case .tooLong(let text): return "duration \(quoted(text)) is too long; the maximum is 100 years"
        }
    }

    /// The valid durations that may be meant instead.
    public var readings: [String] {
        switch self {
        case .missingUnit(let text, let previous):
            previous.smaller.map { text + $0.symbol }.filter(DurationParser.isRight)
        case .groupedDigits(_, let readings): readings.filter(DurationParser.isRight)
        case .unordered(_, let sum): [DurationFormat.render(sum)]
        case .calendarUnit(let text, unit: "M"), .unknownUnit(let text, _):
            [text.lowercased()].filter(DurationParser.isRight)
        default: []
        }
    }

    /// The text without its sign if that is a duration, otherwise an example.
    private static func unsigned(_ text: String) -> String {
        let rest = String(text.drop { $0 == "-" || $0 == "+" || $0 == " " })
        return DurationParser.isRight(rest) ? rest : "5m"
    }
}
