import Text

/// The keys of timers, which are made for their users.
enum TimerKey {
    static let prefix = "timer/"
    /// The bytes of a label that get into the key, which leaves room for the prefix and a number.
    private static let limit = 200

    /// The key for a label: small letters, digits and everything beyond ASCII, with one hyphen in the place of other
    /// characters. Nil if the label has no such letter or digit.
    static func make(from label: String) -> String? {
        var words: [String] = [""]
        for character in PrintableText.replacing(label, { _ in " " }).lowercased() {
            if isKept(character) { words[words.count - 1].append(character) } else { words.append("") }
        }
        var name = ""
        for word in words where !word.isEmpty {
            for character in (name.isEmpty ? "" : "-") + word {
                guard name.utf8.count + character.utf8.count <= limit else { return prefix + name }
                name.append(character)
            }
        }
        return name.isEmpty ? nil : prefix + name
    }

    /// The key for a duration in microseconds.
    static func make(of duration: Int64) -> String { prefix + DurationFormat.render(duration) }

    /// The key for a time of day.
    static func make(at time: ClockTime, in zone: any Zone) -> String {
        let shown = zone.civilTime(at: time.instant.wholeSeconds)
        return "\(prefix)\(twoDigits(shown.hour)):\(twoDigits(shown.minute))"
    }

    private static func isKept(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return !character.isWhitespace }
        return UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
