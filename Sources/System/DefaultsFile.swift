import Text

/// The defaults of a user for timers and their notifications: the lines `NAME = VALUE` of `countdownd/config` in the
/// directory of the user's configuration. Empty lines and lines that begin with `#` have no effect.
public struct DefaultsFile: Equatable, Sendable {
    /// The names that a line can have.
    public enum Name: String, CaseIterable, Sendable {
        case ring
        case ringTimes = "ring-times"
        case snooze
        case sound
        case warn
    }

    /// A line of the file.
    public struct Setting: Equatable, Sendable {
        /// The file and the line, for errors: `/home/alice/.config/countdownd/config:3`.
        public let place: String
        /// The default that the line sets.
        public let name: Name
        /// The value, which is not empty.
        public let value: String

        /// That the value is not valid, with the place; the sentence names the value and what is expected.
        public func invalid(_ sentence: String) -> Invalid { Invalid(sentence: "\(place): \(sentence)") }
    }

    /// Why the file cannot be used.
    public struct Invalid: Error, Equatable {
        /// Names the file, the line, the fault and what is expected.
        public let sentence: String
    }

    /// The lines with a default, in their order; if a name is repeated, the last one counts.
    public let settings: [Setting]

    /// Reads the file. If it does not exist, there are no settings.
    public init(environment: (String) -> String? = Environment.value) throws(Invalid) {
        let home = environment("HOME")
        guard let folder = environment("XDG_CONFIG_HOME") ?? home.map({ "\($0)/.config" }) else {
            settings = []
            return
        }
        let path = "\(folder)/countdownd/config"
        let text: String
        do {
            text = try StoredText.read(path) ?? ""
        } catch {
            throw Invalid(sentence: "\(path): \(systemMessage(error.code))")
        }
        var settings: [Setting] = []
        for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
            let line = Self.trimmed(line)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            settings.append(try Self.setting(line, at: "\(PrintableText.escape(path)):\(number)", home: home))
        }
        self.settings = settings
    }

    /// The last value of a name.
    public subscript(_ name: Name) -> Setting? { settings.last { $0.name == name } }

    private static func setting(_ line: Substring, at place: String, home: String?) throws(Invalid) -> Setting {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(trimmed)
        guard let name = Name(rawValue: String(parts[0])) else {
            let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw Invalid(sentence: "\(place): unknown name '\(PrintableText.escape(String(parts[0])))': use \(names)")
        }
        guard parts.count > 1, !parts[1].isEmpty else {
            throw Invalid(sentence: "\(place): \(name.rawValue) needs a value: \(name.rawValue) = VALUE")
        }
        let value = home.flatMap { parts[1].hasPrefix("~/") ? $0 + parts[1].dropFirst() : nil } ?? String(parts[1])
        return Setting(place: place, name: name, value: value)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let end = text.lastIndex { !$0.isWhitespace }
        return text[..<(end.map(text.index(after:)) ?? text.startIndex)].drop(while: \.isWhitespace)
    }
}
