/// A text with a place for the time that remains: `{s}` for seconds, `{ss}` for seconds with at least two digits, and
/// `{time}` for hours, minutes and seconds as ``time(_:)`` shows them. Other text in braces stands for itself.
///
/// A second that has begun counts as whole, so a countdown of 60 s begins with "60" and ends when "1" has been shown for
/// a second.
public struct RemainingText: Equatable, Sendable, ExpressibleByStringLiteral {
    /// The text with its places.
    public let pattern: String

    /// A text with places, or without.
    public init(_ pattern: String) { self.pattern = pattern }

    /// A text with places, or without.
    public init(stringLiteral pattern: String) { self.pattern = pattern }

    /// The text for a remaining time.
    public func text(for remaining: Duration) -> String {
        var text = ""
        var rest = pattern[...]
        while let brace = rest.firstIndex(of: "{") {
            text += rest[..<brace]
            rest = rest[brace...]
            if let end = rest.firstIndex(of: "}"), let value = Self.value(of: rest[..<end].dropFirst(), remaining) {
                text += value
                rest = rest[end...].dropFirst()
            } else {
                text += "{"
                rest = rest.dropFirst()
            }
        }
        return text + rest
    }

    /// The text of a place; nil if it is unknown, and stands for itself.
    private static func value(of place: Substring, _ remaining: Duration) -> String? {
        switch place {
        case "s": "\(seconds(remaining))"
        case "ss": twoDigits(seconds(remaining))
        case "time": time(remaining)
        default: nil
        }
    }

    /// The remaining time as timers show it: `0:07`, `4:59`, `1:02:03`, `3d 4:05:06`.
    public static func time(_ remaining: Duration) -> String {
        let seconds = seconds(remaining)
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        let ending = "\(twoDigits(minutes)):\(twoDigits(seconds % 60))"
        if days > 0 { return "\(days)d \(hours):\(ending)" }
        return hours > 0 ? "\(hours):\(ending)" : "\(minutes):\(twoDigits(seconds % 60))"
    }

    /// The whole seconds of a remaining time, as the texts show it.
    public static func seconds(_ remaining: Duration) -> Int64 {
        let (whole, fraction) = remaining.components
        return max(0, whole + (fraction > 0 ? 1 : 0))
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
