import CLinux

/// A glob pattern over keys, with the wildcards of the daemon's patterns: `*` matches `/`, too, and there are no escapes.
public struct KeyPattern: Equatable, Sendable {
    private let text: String

    /// Nil if the text is empty, or a `[` in it has no `]`.
    public init?(_ text: String) {
        guard !text.isEmpty, Self.hasClosedBrackets(text) else { return nil }
        self.text = text
    }

    private static func hasClosedBrackets(_ text: String) -> Bool {
        var rest = text.unicodeScalars[...]
        while let opening = rest.firstIndex(of: "[") {
            rest = rest[opening...].dropFirst()
            if rest.first == "!" || rest.first == "^" { rest.removeFirst() }
            // Directly behind the opening it is literal.
            guard let closing = rest.dropFirst().firstIndex(of: "]") else { return false }
            rest = rest[closing...].dropFirst()
        }
        return true
    }

    /// Whether the whole key matches.
    public func matches(_ key: String) -> Bool { unsafe linux_pattern_matches(text, key) != 0 }
}
