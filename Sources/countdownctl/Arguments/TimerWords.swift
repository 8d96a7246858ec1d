import Text

/// The words of a timer: a duration or a time, and the words of the label after it.
///
/// The longest run of words that is a duration or a time is taken. If the words can be understood in another way too, the
/// timer is refused with a command for each.
struct TimerWords {
    /// The duration or the time as it was typed.
    let text: String
    let timing: TypedTiming
    let label: [String]

    /// More words than a duration or a time has.
    static let limit = 16
    private static let conjunctions: Set = ["and", "plus", "minus", "+", "-", "&"]
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    init(_ words: [String], _ clock: ClockText) throws(CommandFailure) {
        var found: [(count: Int, timing: TypedTiming)] = []
        var errors: [(count: Int, error: TypedTimingError)] = []
        for count in 1...max(1, min(words.count, Self.limit)) {
            do {
                found.append((count, try TypedTiming(words.prefix(count).joined(separator: " "), clock)))
            } catch {
                errors.append((count, error))
            }
        }
        let count = found.last?.count ?? 0
        let next = errors.first { $0.error.isAboutOneReading && (count == 0 || $0.count == count + 1) }
        if let last = found.last, let readings = Self.readings(words, found, unless: next?.error) {
            text = words.prefix(count).joined(separator: " ")
            timing = last.timing
            label = Array(words.dropFirst(count))
            guard readings.isEmpty else {
                let commands = readings.map(Self.command).joined(separator: " or ")
                throw .usage("ambiguous \(quoted(words.joined(separator: " "))): use \(commands)")
            }
            return
        }
        // `at` and `in` alone say nothing.
        let failed = next ?? errors[min(errors.count, Self.isPreposition(words.first) ? 2 : 1) - 1]
        let rest = words.dropFirst(failed.count)
        throw .usage(failed.error.sentence { Self.command(Self.split($0) + rest) })
    }

    /// Whether a word in the place of the subcommand begins a timer.
    static func isBeginning(_ word: String) -> Bool {
        word.first?.isNumber == true || DurationParser.isMeant(by: word) || isPreposition(word)
            || ["today", "tomorrow"].contains(word.lowercased())
    }

    private static func isPreposition(_ word: String?) -> Bool { ["in", "at", "until"].contains(word?.lowercased()) }

    /// The ways to understand the words, as words that have one meaning; none if they have one meaning themselves, nil
    /// if the error is to be reported: why one more word makes them wrong. `found` has the numbers of words at the
    /// beginning that are a duration or a time, ascending.
    private static func readings(
        _ words: [String],
        _ found: [(count: Int, timing: TypedTiming)],
        unless error: TypedTimingError?
    ) -> [[String]]? {
        guard let (count, timing) = found.last else { return nil }
        let (typed, label) = (words[..<count], words[count...])
        let labelled = reading(words, labelFrom: count)
        if let error {
            guard case .length(let error) = error, case .missingUnit = error else { return nil }
            return error.readings.map { split($0) + label.dropFirst() } + [labelled]
        }
        if case .length(let length) = timing, !descends(typed),
            let shorter = found.last(where: { $0.count < count && descends(words[..<$0.count]) })
        {
            return [[DurationFormat.render(length)] + label, reading(words, labelFrom: shorter.count)]
        }
        guard let next = label.first?.lowercased() else { return [] }
        // A number alone is seconds. Before a label it may be minutes, or have a unit that is unknown.
        if let number = typed.last, !number.contains(where: { $0.isLetter || $0 == ":" }), case .length = timing {
            return [.minute, .second].map { (unit: DurationUnit) in [number + unit.symbol] + label }
        }
        let isNumber = next.first?.isNumber == true && !next.contains(where: \.isLetter)
        if isNumber || DurationParser.isMeant(by: next) || conjunctions.contains(next) { return [labelled] }
        guard timing.isTime || typed.last?.contains(":") == true else { return [] }
        if case .length(let length) = timing, let unit = DurationUnit(next) {
            let whole = DurationFormat.render(unit == .hour ? length * 60 : length)
            return [[whole] + label.dropFirst(), labelled]
        }
        let isOfTime =
            days.contains { $0 == next || $0.prefix(3) == next } || ["a.m.", "p.m.", "o'clock"].contains(next)
        return isOfTime ? [labelled] : []
    }

    /// The words with those from a place on as the label.
    private static func reading(_ words: [String], labelFrom place: Int) -> [String] {
        words[..<place] + ["--label", words[place...].joined(separator: " ")]
    }

    /// Whether each unit is smaller than the one before it.
    private static func descends(_ words: ArraySlice<String>) -> Bool {
        guard words.count > 1 else { return true }
        let units = words.joined(separator: " ").split { !$0.isLetter }.compactMap { DurationUnit(String($0)) }
        return zip(units, units.dropFirst()).allSatisfy { $0.rawValue > $1.rawValue }
    }

    private static func split(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The command for a timer, as it could be typed in a shell.
    private static func command(_ words: [String]) -> String {
        "`\((["countdownctl"] + words.map(ShellWord.quote)).joined(separator: " "))`"
    }
}
