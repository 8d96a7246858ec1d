import System

/// A text with a place for the seconds that remain: `{s}`, or `{ss}` for two digits at least.
struct SecondsFormat: Equatable {
    private let pattern: String

    init(_ pattern: String) { self.pattern = PrintableText.escape(pattern, doublesBackslashes: false) }

    /// The text with so many microseconds, a second that has begun counting as whole.
    func render(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds / 1_000_000 + (microseconds % 1_000_000 > 0 ? 1 : 0))
        return pattern.substituting(twoDigits(seconds), for: "{ss}").substituting("\(seconds)", for: "{s}")
    }
}
