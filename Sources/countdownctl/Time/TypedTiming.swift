import Text

/// How long, or until when, as it is typed: `5 min`, `in 20 minutes`, `17:30`, which is a duration; `at 17:30`, `5pm`,
/// `tomorrow 9:00`, which are times.
enum TypedTiming: Equatable {
    /// In microseconds.
    case length(Int64)
    case time(ClockTime)

    init(_ text: String, _ clock: ClockText) throws(TypedTimingError) {
        let words = text.split(separator: " ", maxSplits: 1)
        let rest = words.count == 2 ? String(words[1]) : ""
        switch words.first?.lowercased() {
        case "in": self = try Self.length(rest)
        case "at", "until": self = try Self.time(rest, clock, after: "at ")
        case "today", "tomorrow": self = try Self.time(text, clock)
        default:
            do {
                self = try Self.length(text)
            } catch {
                do {
                    self = try Self.time(text, clock)
                } catch let other {
                    // Digits and colons alone are a duration.
                    let isTime = other.isAboutOneReading && text.contains { !$0.isNumber && $0 != ":" }
                    throw isTime ? other : error
                }
            }
        }
    }

    var isTime: Bool {
        if case .time = self { true } else { false }
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
            throw .usage(error.sentence(showing: show))
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

    /// Whether words in the place of a key are a duration or a time instead. A date alone may be a key.
    static func isMeant(by words: some Collection<String>) -> Bool {
        let text = words.joined(separator: " ")
        if DurationParser.isMeant(by: text) { return true }
        let isDate = words.count == 1 && text.utf8.last != UInt8(ascii: "m")
        return !isDate && (try? TypedTiming(text, .local)) != nil
    }

    /// What a user may want to know about how a text was understood.
    func notes(about text: String, _ clock: ClockText) -> [String] {
        switch self {
        case .time(let time): return time.notes.map { $0.sentence(about: text) }
        case .length(let length):
            guard text.count(where: { $0 == ":" }) == 1,
                (try? ClockTimeParser(now: clock.now, zone: clock.zone).parse(text)) != nil
            else {
                return []
            }
            let duration = DurationFormat.render(length)
            return ["\(quoted(text)) is the duration \(duration); --until \(text) is the time of day"]
        }
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
        after preposition: String = ""
    ) throws(TypedTimingError) -> TypedTiming {
        do {
            return .time(try ClockTimeParser(now: clock.now, zone: clock.zone).parse(text))
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

    /// The message, with texts that may be meant as `show` writes them.
    func sentence(showing show: (String) -> String) -> String {
        switch self {
        case .length(let error): error.sentence(showing: show)
        case .time(let error, let preposition): error.sentence { show(preposition + $0) }
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
}
