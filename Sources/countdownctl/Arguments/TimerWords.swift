import Text

/// The words of a timer: a duration or a time, and the words of the label after it.
///
/// The longest run of words that is a duration or a time is taken. If the words after it could carry it on, the timer is
/// refused, with a command for each way to understand the words; all other words are the label.
struct TimerWords {
    /// The duration or the time as it was typed.
    let text: String
    let timing: TypedTiming
    let label: [String]

    /// Words between two parts of a duration or of a time; a label may begin with them.
    private static let links = TypedMoment.links.union(breaks)
    private static let breaks: Set = ["next", "before", "until", "less", "and", "plus", "minus", "+", "-", "&", "und"]

    init(_ words: [String], _ clock: ClockText) throws(CommandFailure) {
        let found = TypedTiming.longest(of: words, clock)
        let error = Self.error(of: words, behind: found?.count ?? 0, clock)
        guard let (count, timing) = found else {
            let readings = error.error.readings.map { Self.split($0) + words.dropFirst(error.count) }
            throw .usage(error.error.sentence(proposing: Self.commands(readings, clock)))
        }
        text = words.prefix(count).joined(separator: " ")
        (self.timing, label) = (timing, Array(words.dropFirst(count)))
        let rest = label.joined(separator: " ")
        // ArgumentParser would take a value with a hyphen for an option.
        let labelled = Array(words[..<count]) + (rest.first == "-" ? ["--label=\(rest)"] : ["--label", rest])
        if error.error.isAboutOneReading, error.count > count {
            let readings = error.error.readings.map { Self.split($0) + words.dropFirst(error.count) }
            throw .usage(error.error.sentence(proposing: Self.commands(readings + [labelled], clock)))
        }
        guard let readings = readings else { return }
        let commands = Self.commands(readings + [labelled], clock).joined(separator: " or ")
        throw .usage("ambiguous \(quoted(words.joined(separator: " "))): use \(commands)")
    }

    /// Whether words in the place of the subcommand begin a timer.
    static func isBeginning(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        let isTyped = first.first?.isNumber == true || first.lowercased() == "in"
        if isTyped || TypedTiming.prepositions.contains(first.lowercased()) { return true }
        let clock = ClockText.local
        return TypedTiming.longest(of: words, clock) != nil
            || error(of: words, behind: 0, clock).error.isAboutOneReading
    }

    /// The error that says most about words whose first ones are a duration or a time, with the number of words it is about:
    /// the last one if another word could have helped, otherwise the first.
    private static func error(
        of words: [String],
        behind count: Int,
        _ clock: ClockText
    ) -> (count: Int, error: TypedTimingError) {
        var errors: [(count: Int, error: TypedTimingError)] = []
        for count in (count + 1)...max(count + 1, min(words.count, TypedTiming.limit)) {
            do {
                _ = try TypedTiming(words.prefix(count).joined(separator: " "), clock)
            } catch {
                errors.append((min(count, words.count), error))
            }
        }
        let readable = errors.filter(\.error.isAboutOneReading)
        if let found = readable.first?.error.isIncomplete == true ? readable.last : readable.first { return found }
        // `at` and `in` alone say nothing.
        let isPreposition = words.first.map {
            $0.lowercased() == "in" || TypedTiming.prepositions.contains($0.lowercased())
        }
        return errors.dropFirst(isPreposition == true ? 1 : 0).first ?? errors.first ?? (0, .length(.empty))
    }

    /// The other ways to understand the words, as words that have one meaning; nil if the label is plain.
    private var readings: [[String]]? {
        guard let next = label.first else { return nil }
        let last = text.split(separator: " ").last.map(String.init) ?? ""
        if case .length(let length) = timing {
            // A number alone is seconds. Before a label it may be minutes, or have a unit that is unknown.
            if !last.contains(where: { $0.isLetter || $0 == ":" }) {
                return [.minute, .second].map { (unit: DurationUnit) in [last + unit.symbol] + label }
            }
            if last.count(where: { $0 == ":" }) == 1, let unit = DurationUnit(next) {
                let whole = DurationFormat.render(unit == .hour ? length * 60 : length)
                return [[whole] + label.dropFirst()]
            }
        }
        return goesOn ? [] : nil
    }

    /// Whether the label could carry on the duration or the time: with a number in digits, a number word and a unit, or a
    /// time in digits; behind a time also with a day, a part of the day or a zone.
    private var goesOn: Bool {
        let rest = label.drop { Self.links.contains($0.lowercased()) }
        guard let next = rest.first else { return false }
        if next.first?.isNumber == true, !next.contains(where: \.isLetter) { return true }
        // Several words in quotes are a label.
        let isQuoted = next.contains(" ")
        if isQuoted { return DurationParser.isMeant(by: next) }
        if DurationParser.begins(rest.joined(separator: " ")) { return true }
        guard case .time = timing else {
            var scanner = TextScanner(rest.joined(separator: " "))
            return TypedClock.read(&scanner, isCompact: false)?.isNamed == false
        }
        return TypedMoment.canGoOn(with: label.drop { Self.breaks.contains($0) && $0 != "next" }.joined(separator: " "))
    }

    private static func split(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The commands for timers, as they could be typed in a shell, without those that would be refused.
    private static func commands(_ timers: [[String]], _ clock: ClockText) -> [String] {
        timers.filter { words in
            let typed = words.prefix { !$0.hasPrefix("--label") }
            guard typed.count == words.count else { return TypedTiming.longest(of: typed, clock)?.count == typed.count }
            return (try? TimerWords(words, clock)) != nil
        }.map { "`\((["countdownctl"] + $0.map(ShellWord.quote)).joined(separator: " "))`" }
    }
}
