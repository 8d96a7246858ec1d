import Text

/// How often something may happen: a number of times at once, then once per interval. The countdown under the key says
/// how much of it is used: each time adds the interval to its remaining time, up to all intervals together.
struct Rate: Equatable {
    /// In microseconds.
    let period: Int64
    /// The period divided by the number of times, rounded up, in microseconds.
    let interval: Int64
    /// The most that may remain, in microseconds.
    let limit: Int64

    /// Reads `3/10m`: three times at once, then once per 3:20.
    init(_ text: String) throws(CommandFailure) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let times = Self.number(parts[0]) else {
            throw Self.invalid(text, "use a number and a period, such as 3/10m")
        }
        do {
            period = try DurationParser.parse(parts[1])
        } catch {
            throw Self.invalid(text, "\(error)")
        }
        guard times > 0 else { throw Self.invalid(text, "the number must be at least 1") }
        guard period > 0 else { throw Self.invalid(text, "the period must be at least 1us") }
        guard times <= period else { throw Self.invalid(text, "at most one per 1us is possible") }
        interval = (period - 1) / times + 1
        limit = times * interval
    }

    /// Reads the value of `--rate`, if there is one, which leaves no place for a duration.
    static func read(_ text: String?, duration: String?) throws(CommandFailure) -> Rate? {
        guard let text else { return nil }
        let rate = try Rate(text)
        guard let duration else { return rate }
        throw .usage("unexpected duration \(quoted(duration)): \(option(text)) sets the duration")
    }

    /// The option with its value, for an error.
    static func option(_ text: String) -> String { "--rate \(ShellWord.quote(text))" }

    /// How many times are left after one that was accepted.
    func left(_ remaining: Int64) -> Int64 { max(0, limit - max(0, remaining)) / interval }

    /// How long until the next time after one that was accepted, in microseconds; 0 if it is possible now.
    func delay(_ remaining: Int64) -> Int64 { max(0, max(0, remaining) - (limit - interval)) }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }

    private static func invalid(_ text: String, _ expected: String) -> CommandFailure {
        .usage("invalid --rate \(quoted(text)): \(expected)")
    }
}
