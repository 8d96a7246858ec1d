/// Why a text is no point in time that lies ahead; each case carries the text.
enum ClockTimeInvalid: Error, Equatable {
    case notATime(String)
    /// A length of time was typed.
    case isDuration(String)
    case notAnEpoch(String)
    /// No calendar or clock shows it.
    case noSuchTime(String)
    /// A fraction of a second in a local time.
    case fractionWithoutOffset(String)
    case passed(String)
    case tooFar(String)
}

extension ClockTimeInvalid: CustomStringConvertible {
    /// What was wrong, and what would be right.
    var description: String {
        switch self {
        case .notATime(let text):
            "\(quoted(text)) is no time; 17:30, 'tomorrow 9:00', 2026-03-01T09:00 or @1772355600 is one"
        case .isDuration(let text):
            "\(quoted(text)) is a length of time; --until takes a point in time such as 17:30"
        case .notAnEpoch(let text):
            "\(quoted(text)) is no time; behind @ stand the seconds since 1970, as in @1772355600"
        case .noSuchTime(let text): "\(quoted(text)): no calendar has that day, or no clock that time"
        case .fractionWithoutOffset(let text):
            "\(quoted(text)): a fraction of a second needs Z or an offset behind it, as in 2026-03-01T09:00:00.5Z"
        case .passed(let text): "\(quoted(text)) has passed; --until takes a time that lies ahead"
        case .tooFar(let text): "\(quoted(text)) is too far ahead; the longest countdown takes 100 years"
        }
    }
}

extension ClockTime.Note {
    /// What is said about a time that was typed.
    func sentence(about text: String) -> String {
        switch self {
        case .passedToday: "\(quoted(text)) has passed today, so it is tomorrow's"
        case .skipped: "\(quoted(text)) is skipped, as clocks are put forward then"
        case .firstOfTwo: "\(quoted(text)) comes twice, as clocks are put back then; the first is meant"
        case .secondOfTwo: "\(quoted(text)) comes twice, as clocks are put back then; the second is meant"
        }
    }
}
