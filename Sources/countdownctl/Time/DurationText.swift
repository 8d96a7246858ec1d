/// A length of time as it is typed: `90`, `90s`, `1h30m`, `1.5h`, `250ms`, and as terminal timers have it, `1:30` and
/// `1:02:03`. The units are those of systemd.time(7) up to the week.
enum DurationText {
    /// 100 years, the longest countdown.
    static let longest: Int64 = 100 * 36_525 * 864 * 1_000_000

    /// The length in microseconds, a fraction of one dropped.
    ///
    /// - Throws: what is wrong with the text.
    static func parse(_ text: String) throws(Invalid) -> Int64 {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        if scanner.isAtEnd { throw .empty }
        if scanner.next == UInt8(ascii: "-") || scanner.next == UInt8(ascii: "+") { throw .signed(text) }
        let length =
            text.utf8.contains(UInt8(ascii: ":")) ? try clockForm(&scanner, text) : try unitForm(&scanner, text)
        guard let microseconds = Int64(exactly: length), microseconds <= longest else { throw .tooLong(text) }
        return microseconds
    }

    /// Whether somebody who typed this meant a length: one that is right, or one that lacks a unit or has one of the
    /// calendar.
    static func isMeant(by text: String) -> Bool {
        do {
            _ = try parse(text)
            return true
        } catch {
            switch error {
            case .missingUnit, .calendarUnit: return true
            default: return false
            }
        }
    }

    /// Whether it reads as a length.
    static func isRight(_ text: String) -> Bool { (try? parse(text)) != nil }

    /// `1h30m`, `90`: numbers with their units, or one number of seconds.
    private static func unitForm(_ scanner: inout TextScanner, _ text: String) throws(Invalid) -> Int128 {
        var length: Int128 = 0
        var previous: DurationUnit?
        repeat {
            guard let number = scanner.decimal() else { throw .notADuration(text) }
            guard number.digits <= TextScanner.digitLimit else { throw .tooLong(text) }
            scanner.skipSpaces()
            let name = scanner.word()
            let unit = try unit(named: name, of: number, after: previous, in: text, isLast: scanner.isAtEnd)
            length += number.times(unit.microseconds)
            guard length <= longest else { throw .tooLong(text) }
            previous = unit
            scanner.skipSpaces()
        } while !scanner.isAtEnd
        return length
    }

    private static func unit(
        named name: String,
        of number: Decimal,
        after previous: DurationUnit?,
        in text: String,
        isLast: Bool
    ) throws(Invalid) -> DurationUnit {
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
    private static func clockForm(_ scanner: inout TextScanner, _ text: String) throws(Invalid) -> Int128 {
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

extension DurationText {
    /// Why a text is no length; each case carries the text.
    enum Invalid: Error, Equatable {
        case empty
        case notADuration(String)
        case signed(String)
        /// A number without a unit behind one with a unit.
        case missingUnit(String, previous: DurationUnit)
        /// Months and years, which are of unequal length.
        case calendarUnit(String, unit: String)
        case unknownUnit(String, unit: String)
        /// A field of `H:MM:SS` that is not of two digits below 60.
        case clockField(String)
        case tooLong(String)
    }
}
