extension DurationText.Invalid: CustomStringConvertible {
    /// What was wrong, and what would be right.
    var description: String {
        switch self {
        case .empty: "an empty text is no length of time; 5m, 90s or 1:30 is one"
        case .notADuration(let text): "\(quoted(text)) is no length of time; 5m, 90s or 1:30 is one"
        case .signed(let text):
            "\(quoted(text)) has a sign; a length of time is positive and has none, as in \(Self.unsigned(text))"
        case .missingUnit(let text, let previous):
            "\(quoted(text)) lacks a unit at its end: \(guesses(text, previous.smaller))?"
        case .calendarUnit(let text, let unit): calendarSentence(text, unit)
        case .unknownUnit(let text, let unit): unknownSentence(text, unit)
        case .clockField(let text):
            "\(quoted(text)) is no length of time; minutes and seconds have two digits up to 59, as in 1:05 or 1:02:03"
        case .tooLong(let text): "\(quoted(text)) is too long; the longest countdown takes 100 years"
        }
    }

    /// The text without its sign, where it reads as a length so.
    private static func unsigned(_ text: String) -> String {
        let rest = String(text.drop { $0 == "-" || $0 == "+" || $0 == " " })
        return DurationText.isRight(rest) ? rest : "5m"
    }

    private func guesses(_ text: String, _ units: [DurationUnit]) -> String {
        units.map { quoted(text + $0.symbol) }.joined(separator: " or ")
    }

    private func calendarSentence(_ text: String, _ unit: String) -> String {
        guard unit == "M" else {
            return "\(quoted(text)): months and years are of unequal length; name days or weeks, as in 30d"
        }
        let minutes = text.substituting("m", for: "M")
        return "\(quoted(text)): M is a month, and months are of unequal length; minutes are \(quoted(minutes))"
    }

    private func unknownSentence(_ text: String, _ unit: String) -> String {
        if let known = DurationUnit(unit.lowercased()) {
            return "\(quoted(text)): units are lower case: \(quoted(text.substituting(known.symbol, for: unit)))"
        }
        return "\(quoted(text)): \(quoted(unit)) is no unit; there are us, ms, s, m, h, d and w"
    }
}
