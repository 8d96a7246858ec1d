/// The countdowns that a program selects; all if there are neither keys nor patterns.
package struct KeySelection: Equatable, Sendable {
    /// Taken as they are.
    package private(set) var keys: [String]
    package private(set) var patterns: [String] = []

    /// Selects keys literally.
    package init(keys: [String] = []) { self.keys = keys }

    /// Selects keys, and words that may be patterns.
    package init(typed words: [String], keys: [String] = []) {
        self.keys = keys
        for word in words { add(typed: word) }
    }

    /// Adds a word that may be a pattern. Without *, ? or [ it is a key; the daemon accepts more keys than patterns.
    package mutating func add(typed word: String) {
        if word.contains(where: { "*?[".contains($0) }) { patterns.append(word) } else { keys.append(word) }
    }

    /// Whether no more than one key can match.
    package var isOne: Bool { keys.count == 1 && patterns.isEmpty }

    /// The patterns as calls take them.
    package var match: [String]? { patterns.isEmpty ? nil : patterns }

    /// The keys as calls take them.
    package var named: [String]? { keys.isEmpty ? nil : keys }

    /// The watch of the selection; a tick of nil is the daemon's default, 0 means no ticks.
    package func watch(tick: Int64? = nil, since: Int64? = nil) -> Watch {
        Watch(match: match, tick: tick.map(Duration.microseconds), since: since, keys: named)
    }
}
