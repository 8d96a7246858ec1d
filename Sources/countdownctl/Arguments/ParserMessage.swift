import Text

/// The messages of ArgumentParser in the words of this program: the value, and then what is expected.
enum ParserMessage {
    /// The sentence for a message; the message itself if the program cannot cause it.
    static func sentence(_ message: String) -> String {
        if let (value, rest) = cut(message, "The value '", "' is invalid for '") {
            return invalid(value, rest)
        }
        if let (name, _) = cut(message, "The option '", "' does not take any value, but '") {
            return "\(name) takes no value"
        }
        if let (second, first) = cut(message, "Value to be set with flag '", "' had already been set with flag '") {
            return "\(first.dropLast()) cannot be combined with \(second)"
        }
        if let (name, other) = cut(message, "Unknown option '", "'. Did you mean '") {
            return "unknown option '\(name)'; did you mean '\(other.dropLast())?"
        }
        if let (name, value) = cut(message, "Missing value for '", " <") {
            return "\(name) needs a value: \(name) \(value.dropLast(2).uppercased())"
        }
        if let (_, words) = cut(message, "", " unexpected arguments: ") { return "unexpected arguments \(words)" }
        return message.prefix(1).lowercased() + message.dropFirst()
    }

    /// `VALUE' is invalid for '--option <name>'. Please provide one of 'a', 'b' or 'c'.`
    private static func invalid(_ value: String, _ rest: String) -> String {
        guard let (option, ending) = cut(rest, "", "'") else { return "invalid value '\(value)'" }
        let name = cut(option, "", " <")?.before ?? option
        let expected = cut(ending, ". Please provide one of ", ".").map {
            $0.before.substituting("", for: "'").substituting(" or ", for: " and ")
        }
        return "invalid \(name) '\(value)'" + (expected.map { ": use \($0)" } ?? ending)
    }

    /// The text between a beginning and a separator, and the text after it; nil if it does not have them.
    private static func cut(
        _ text: String,
        _ beginning: String,
        _ separator: String
    ) -> (before: String, after: String)? {
        guard text.hasPrefix(beginning) else { return nil }
        let rest = text.dropFirst(beginning.count)
        guard let place = rest.firstRange(of: separator) else { return nil }
        return (String(rest[..<place.lowerBound]), String(rest[place.upperBound...]))
    }
}
