/// Which countdowns a call is about; all where neither keys nor patterns are named.
struct Selection: Equatable {
    /// Taken as they are.
    var keys: [String] = []
    /// Glob patterns.
    var patterns: [String] = []

    /// Those of these keys, which are no patterns.
    init(keys: [String]) { self.keys = keys }

    /// What was typed where patterns may stand. What has nothing of a pattern is a key, of which the daemon takes more.
    init(typed words: [String]) {
        for word in words {
            if word.contains(where: { "*?[".contains($0) }) { patterns.append(word) } else { keys.append(word) }
        }
    }

    /// Whether no more than one key can match.
    var isOne: Bool { keys.count == 1 && patterns.isEmpty }

    /// The patterns as calls take them.
    var match: [String]? { patterns.isEmpty ? nil : patterns }

    /// The keys as calls take them.
    var named: [String]? { keys.isEmpty ? nil : keys }
}
