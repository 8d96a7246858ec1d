import Text

/// How long, or until when, as it is typed: `5 min`, `in 20 minutes`, `17:30`, which is a duration; `at 17:30`, `5pm`,
/// `tomorrow 9:00`, `in 2 days at 10:00`, which are times.
enum TypedTiming: Equatable {
    /// In microseconds.
    case length(Int64)
    case time(ClockTime)

    /// More words than a duration or a time has.
    static let limit = 16
    /// Words that begin a time.
    static let prepositions: Set = ["at", "until", "on", "um", "bis", "am"]

    init(_ text: String, _ clock: ClockText) throws(TypedTimingError) {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let (first, rest) = (words.first?.lowercased() ?? "", words.count == 2 ? words[1] : "")
        if first == "in" {
            self = try Self.span(rest, clock)
        } else if Self.prepositions.contains(first) {
            self = try Self.time(rest, clock, after: "\(words[0]) ")
        } else {
            do {
                self = try Self.length(text)
            } catch {
                do {
                    self = try Self.timeAlone(text, words.first ?? "", rest, clock)
                } catch let other {
                    // Digits and colons alone are a duration.
                    let isTime = other.isAboutOneReading && text.contains { !$0.isNumber && $0 != ":" }
                    throw isTime ? other : error
                }
            }
        }
    }

    /// The longest beginning of words that is a duration or a time; nil if none is.
    static func longest(
        of words: some RandomAccessCollection<String>,
        _ clock: ClockText
    ) -> (count: Int, timing: TypedTiming)? {
        for count in stride(from: min(words.count, limit), to: 0, by: -1) {
            if let timing = try? TypedTiming(words.prefix(count).joined(separator: " "), clock) {
                return (count, timing)
            }
        }
        return nil
    }

    /// Reads it for a subcommand. In an error, `show` writes a text that may be meant as it could be typed.
    static func read(
        _ text: String,
        _ clock: ClockText,
        showing show: (String) -> String
    ) throws(CommandFailure) -> TypedTiming {
        do {
            return try TypedTiming(text, clock)
        } catch {
            throw .usage(error.sentence(proposing: error.readings.map(show)))
        }
    }

    /// Reads a duration in microseconds that is not 0, for a subcommand that takes no time.
    static func readLength(_ text: String, showing show: (String) -> String) throws(CommandFailure) -> Int64 {
        switch try read(text, .local, showing: show) {
        case .length(let length): return try atLeastOne(length)
        case .time: throw .usage("\(quoted(text)) is a time; use a duration such as 5m")
        }
    }

    /// The length if it is not 0; otherwise a usage error.
    static func atLeastOne(_ length: Int64) throws(CommandFailure) -> Int64 {
        guard length > 0 else { throw .usage("the duration must be at least 1us") }
        return length
    }

    /// Whether words in the place of a key are a duration or a time instead. A word that is a date or the name of a time may
    /// be a key.
    static func isMeant(by words: some Collection<String>) -> Bool {
        let text = words.joined(separator: " ")
        if DurationParser.isMeant(by: text) { return true }
        let isName = words.count == 1 && text.utf8.last != UInt8(ascii: "m")
        return !isName && (try? TypedTiming(text, .local)) != nil
    }

    /// What a user may want to know about how a text was understood.
    func notes(about text: String, _ clock: ClockText) -> [String] {
        switch self {
        case .time(let time): return time.notes.map { $0.sentence(about: text) }
        case .length(let length):
            guard text.count(where: { $0 == ":" }) == 1, !text.contains(" "),
                (try? ClockTimeParser(now: clock.now, zone: clock.zone).parse(text)) != nil
            else {
                return []
            }
            let duration = DurationFormat.render(length)
            return ["\(quoted(text)) is the duration \(duration); --until \(text) is the time of day"]
        }
    }

    /// The text after `in`: a duration, or days and a time of day.
    private static func span(_ text: String, _ clock: ClockText) throws(TypedTimingError) -> TypedTiming {
        for link in [" at ", " um "] {
            guard let place = text.firstRange(of: link) else { continue }
            let before = String(text[..<place.lowerBound])
            if let days = DurationParser.days(before) {
                return try time(
                    String(text[place.upperBound...]),
                    clock,
                    on: .later(days),
                    after: "in \(before)\(link)"
                )
            }
        }
        return try length(text)
    }

    /// A time without a word before it. `1:30 Sunday roast` may be a minute and a half.
    private static func timeAlone(
        _ text: String,
        _ first: String,
        _ rest: String,
        _ clock: ClockText
    ) throws(TypedTimingError) -> TypedTiming {
        let time = try time(text, clock)
        guard first.contains(":"), DurationParser.isRight(first), TypedMoment.beginsWithWeekday(rest),
            !rest.lowercased().hasPrefix("am ")
        else { return time }
        throw .time(.several(text, reason: "\(quoted(first)) may be a duration", readings: [text]), after: "at ")
    }

    private static func length(_ text: String) throws(TypedTimingError) -> TypedTiming {
        do {
            return .length(try DurationParser.parse(text))
        } catch {
            throw .length(error)
        }
    }

    private static func time(
        _ text: String,
        _ clock: ClockText,
        on day: TypedDay? = nil,
        after preposition: String = ""
    ) throws(TypedTimingError) -> TypedTiming {
        do {
            return .time(try ClockTimeParser(now: clock.now, zone: clock.zone).parse(text, on: day))
        } catch {
            throw .time(error, after: preposition)
        }
    }
}

/// Why a text is neither a duration nor a time.
enum TypedTimingError: Error, Equatable {
    case length(DurationError)
    /// A time, which was typed after `at ` or alone.
    case time(ClockTimeError, after: String)

    /// The message, with proposals as they could be typed.
    func sentence(proposing proposals: [String]) -> String {
        switch self {
        case .length(let error): error.sentence(proposing: proposals)
        case .time(let error, _): error.sentence(proposing: proposals)
        }
    }

    /// The texts that may be meant instead.
    var readings: [String] {
        switch self {
        case .length(let error): error.readings
        case .time(let error, let preposition): error.readings.map { preposition + $0 }
        }
    }

    /// Whether the text has the form of a duration or of a time, and something is wrong with it.
    var isAboutOneReading: Bool {
        switch self {
        case .length(.empty), .length(.notADuration), .length(.signed), .length(.clockField): false
        case .length(.unknownUnit(_, let unit)): DurationUnit(unit.lowercased()) != nil
        case .time(.notATime, _), .time(.isDuration, _): false
        default: true
        }
    }

    /// Whether a further word may make it right.
    var isIncomplete: Bool {
        switch self {
        case .length(.missingUnit), .time(.incomplete, _): true
        default: false
        }
    }
}
