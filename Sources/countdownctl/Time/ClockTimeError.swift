import Text

/// Why a text is not a time in the future; each case carries the text.
enum ClockTimeError: Error, Equatable {
    case notATime(String)
    /// A length of time was typed.
    case isDuration(String)
    /// It has several meanings: the reason, and texts for what may be meant.
    case several(String, reason: String, readings: [String])
    /// It lacks a part, which a further word may have.
    case incomplete(String, reason: String, readings: [String])
    /// It has the form of a time, and something is wrong with it.
    case invalid(String, String)
    case passed(String)
    case tooFar(String)

    /// No calendar or clock shows it.
    static func noSuchTime(_ text: String) -> ClockTimeError { .invalid(text, "no such day or time of day") }
}

extension ClockTimeError: CustomStringConvertible {
    /// The message: what is wrong, and what is expected.
    var description: String { sentence(proposing: readings.map(quoted)) }

    /// The texts that may be meant instead.
    var readings: [String] {
        switch self {
        case .several(_, _, let readings), .incomplete(_, _, let readings): readings
        default: []
        }
    }

    /// The message, with proposals of what may be meant.
    func sentence(proposing proposals: [String]) -> String {
        message + (proposals.isEmpty ? "" : "; did you mean \(proposals.joined(separator: " or "))?")
    }

    private var message: String {
        switch self {
        case .notATime(let text):
            "invalid time \(quoted(text)); use for example 17:30, 'tomorrow 9:00', 2026-03-01T09:00 or @1772355600"
        case .isDuration(let text):
            "\(quoted(text)) is a duration; use a time such as 17:30"
        case .several(let text, let reason, _), .incomplete(let text, let reason, _), .invalid(let text, let reason):
            "invalid time \(quoted(text)): \(reason)"
        case .passed(let text): "time \(quoted(text)) has passed; use a time in the future"
        case .tooFar(let text): "time \(quoted(text)) is too far ahead; the maximum is 100 years"
        }
    }
}
