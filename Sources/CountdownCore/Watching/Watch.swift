/// The name of a watcher, given by whoever registers it.
public struct WatcherID: Hashable, Sendable {
    public let number: Int

    public init(_ number: Int) {
        self.number = number
    }
}

/// Which countdowns somebody follows.
public struct Selection: Sendable {
    public let keys: Set<Key>
    public let patterns: [Pattern]
    /// Whether all are followed, whatever their key.
    public let isEverything: Bool

    /// All countdowns.
    public static let everything = Selection(keys: [], patterns: [], isEverything: true)

    /// Those whose key is one of the keys or matches one of the patterns; none where both are empty.
    public init(keys: Set<Key>, patterns: [Pattern]) {
        self.init(keys: keys, patterns: patterns, isEverything: patterns.contains(where: \.matchesAll))
    }

    private init(keys: Set<Key>, patterns: [Pattern], isEverything: Bool) {
        self.keys = keys
        self.patterns = patterns
        self.isEverything = isEverything
    }

    /// Whether the countdown under this key is followed.
    public func contains(_ key: Key) -> Bool {
        isEverything || keys.contains(key) || patterns.contains { $0.matches(key) }
    }

    /// What it takes to ask for a key, in entries that are walked past.
    public var steps: Int { 1 + patternSteps }
    var patternSteps: Int { patterns.reduce(0) { $0 + $1.steps } }

    /// What it takes to be kept, rounded up: an exact key that is found at once stands in a table of its own.
    public var bytes: Int {
        keys.reduce(patterns.reduce(0) { $0 + $1.bytes }) { $0 + $1.text.utf8.count + (hasKeysAlone ? 512 : 128) }
    }

    /// Whether its countdowns can be found by their keys, which are few, without walking through all.
    public var hasKeysAlone: Bool { patterns.isEmpty && !isEverything && keys.count <= Policy.keysAtOnce }
}
