/// A length of time as it is typed: `90`, `90s`, `1h30m`, `1 h 30 min`, `1 hour and 30 minutes`, `1.5h`, `1,5h`, `250ms`, and
/// as terminal timers have it, `1:30` and `1:02:03`. The units are those of systemd.time(7) up to the week.
public enum DurationParser {
    /// 100 years, the longest countdown.
    public static let longest: Int64 = 100 * 36_525 * 864 * 1_000_000

    /// The length in microseconds, a fraction of one dropped.
    public static func parse(_ text: String) throws(DurationError) -> Int64 {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        if scanner.isAtEnd { throw .empty }
        if scanner.next == UInt8(ascii: "-") || scanner.next == UInt8(ascii: "+") { throw .signed(text) }
        let length =
            text.utf8.contains(UInt8(ascii: ":")) ? try clockForm(&scanner, text) : try unitForm(&scanner, text)
        guard let microseconds = Int64(exactly: length), microseconds <= longest else { throw .tooLong(text) }
        return microseconds
    }

    /// Whether the text is meant as a duration: it is valid, lacks a unit at its end, has a unit of the calendar, or a comma
    /// that may separate thousands.
    public static func isMeant(by text: String) -> Bool {
        do {
            _ = try parse(text)
            return true
        } catch {
            switch error {
            case .missingUnit, .calendarUnit, .groupedDigits: return true
            default: return false
            }
        }
    }

    /// Whether it reads as a length.
    public static func isRight(_ text: String) -> Bool { (try? parse(text)) != nil }

    /// `1h30m`, `90`: numbers with their units, or one number of seconds.
    private static func unitForm(_ scanner: inout TextScanner, _ text: String) throws(DurationError) -> Int128 {
        var length: Int128 = 0
        var previous: DurationUnit?
        while true {
            guard let number = scanner.decimal() else { throw .notADuration(text) }
            guard number.digits <= TextScanner.digitLimit else { throw .tooLong(text) }
            guard !number.mayBeGrouped else { throw .groupedDigits(text) }
            scanner.skipSpaces()
            let name = scanner.word()
            let unit = try unit(named: name, of: number, after: previous, in: text, isLast: scanner.isAtEnd)
            length += number.times(unit.microseconds)
            guard length <= longest else { throw .tooLong(text) }
            previous = unit
            scanner.skipSpaces()
            if scanner.isAtEnd { return length }
            skipConjunction(&scanner)
        }
    }

    /// Skips the comma of `1h, 30m` and the word of `1 hour and 30 minutes`.
    private static func skipConjunction(_ scanner: inout TextScanner) {
        _ = scanner.skip(",")
        scanner.skipSpaces()
        if scanner.skipWord("and") { scanner.skipSpaces() }
    }

    private static func unit(
        named name: String,
        of number: DecimalNumber,
        after previous: DurationUnit?,
        in text: String,
        isLast: Bool
    ) throws(DurationError) -> DurationUnit {
        if let unit = DurationUnit(name) { return unit }
        guard name.isEmpty else {
            throw DurationUnit.ofCalendar.contains(name)
                ? .calendarUnit(text, unit: name) : .unknownUnit(text, unit: name)
        }
        guard isLast else { throw .notADuration(text) }
        guard let previous else { return .second }
        throw .missingUnit(text, previous: previous)
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
    /// A comma that is a decimal point or separates thousands.
    case groupedDigits(String)
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
    public var description: String { sentence(showing: quoted) }

    /// The message, with durations that may be meant as `show` writes them.
    public func sentence(showing show: (String) -> String) -> String {
        let meant = readings.map(show).joined(separator: " or ")
        switch self {
        case .empty: return "missing duration; use for example 5m, 90s or 1:30"
        case .notADuration(let text): return "invalid duration \(quoted(text)); use for example 5m, 90s or 1:30"
        case .signed(let text):
            return "invalid duration \(quoted(text)): it must not have a sign, as in \(Self.unsigned(text))"
        case .missingUnit(let text, _):
            return "invalid duration \(quoted(text)): missing unit; did you mean \(meant)?"
        case .groupedDigits(let text):
            return "invalid duration \(quoted(text)): the comma is ambiguous; did you mean \(meant)?"
        case .calendarUnit(let text, unit: "M"):
            return "invalid duration \(quoted(text)): M means months, which differ in length; minutes are \(meant)"
        case .calendarUnit(let text, _):
            return "invalid duration \(quoted(text)): months and years differ in length; use days or weeks, such as 30d"
        case .unknownUnit(let text, let unit):
            return meant.isEmpty
                ? "invalid duration \(quoted(text)): unknown unit \(quoted(unit)); use us, ms, s, m, h, d or w"
                : "invalid duration \(quoted(text)): units are lower case; did you mean \(meant)?"
        case .clockField(let text):
            return
                "invalid duration \(quoted(text)): minutes and seconds have two digits up to 59, as in 1:05 or 1:02:03"
        case .tooLong(let text): return "duration \(quoted(text)) is too long; the maximum is 100 years"
        }
    }

    /// The valid durations that may be meant instead.
    public var readings: [String] {
        switch self {
        case .missingUnit(let text, let previous): previous.smaller.map { text + $0.symbol }
        case .groupedDigits(let text):
            [text.substituting("", for: ","), text.substituting(".", for: ",")].filter(DurationParser.isRight)
        case .calendarUnit(let text, unit: "M"): [text.substituting("m", for: "M")]
        case .unknownUnit(let text, let unit):
            DurationUnit(unit.lowercased()).map { [text.substituting($0.symbol, for: unit)] } ?? []
        default: []
        }
    }

    /// The text without its sign if that is a duration, otherwise an example.
    private static func unsigned(_ text: String) -> String {
        let rest = String(text.drop { $0 == "-" || $0 == "+" || $0 == " " })
        return DurationParser.isRight(rest) ? rest : "5m"
    }
}

/// A unit of length that always has the same number of microseconds.
///
/// The raw value is that number.
public enum DurationUnit: Int64, CaseIterable, Sendable {
    /// `us`.
    case microsecond = 1
    /// `ms`.
    case millisecond = 1_000
    /// `s`.
    case second = 1_000_000
    /// `m`.
    case minute = 60_000_000
    /// `h`.
    case hour = 3_600_000_000
    /// `d`.
    case day = 86_400_000_000
    /// `w`.
    case week = 604_800_000_000

    /// Units that systemd.time(7) has, which are no fixed length; `M` is its month.
    static let ofCalendar: Set<String> = ["M", "month", "months", "y", "Y", "year", "years"]

    /// The unit of a name that systemd.time(7) gives it.
    public init?(_ name: String) {
        guard let unit = Self.allCases.first(where: { $0.names.contains(name) }) else { return nil }
        self = unit
    }

    /// The unit in microseconds.
    public var microseconds: Int64 { rawValue }

    /// The shortest name.
    public var symbol: String { names[0] }

    /// The units that may be missing after this one, the next smaller one first.
    var smaller: [DurationUnit] {
        switch self {
        case .week: [.day, .hour]
        case .day: [.hour, .minute]
        case .hour: [.minute, .second]
        case .minute: [.second]
        case .second: [.millisecond]
        case .millisecond, .microsecond: [.microsecond]
        }
    }

    private var names: [String] {
        switch self {
        case .microsecond: ["us", "\u{B5}s", "\u{3BC}s", "usec"]
        case .millisecond: ["ms", "msec"]
        case .second: ["s", "sec", "secs", "second", "seconds"]
        case .minute: ["m", "min", "mins", "minute", "minutes"]
        case .hour: ["h", "hr", "hrs", "hour", "hours"]
        case .day: ["d", "day", "days"]
        case .week: ["w", "week", "weeks"]
        }
    }
}
