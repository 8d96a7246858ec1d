/// The watchers of each key.
///
/// Watchers of a few keys are found in a table; watchers with patterns or many keys are asked one by one. So adding and
/// removing a watcher is cheap.
struct Subscribers: Sendable {
    private var everything: [WatcherID] = []
    private var byKey: [Key: Set<WatcherID>] = [:]
    private var others: [(watcher: WatcherID, selection: Selection)] = []
    /// The cost of matching a key against all patterns, in scanned entries.
    private(set) var patternSteps = 0

    mutating func insert(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything {
            everything.append(watcher)
        } else if selection.hasKeysAlone {
            for key in selection.keys { byKey[key, default: []].insert(watcher) }
        } else {
            others.append((watcher, selection))
            patternSteps += selection.patternSteps
        }
    }

    mutating func remove(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything {
            everything.removeAll { $0 == watcher }
        } else if selection.hasKeysAlone {
            for key in selection.keys {
                byKey[key]?.remove(watcher)
                if byKey[key]?.isEmpty == true { byKey[key] = nil }
            }
        } else {
            others.removeAll { $0.watcher == watcher }
            patternSteps -= selection.patternSteps
        }
    }

    func forEach(of key: Key, _ body: (WatcherID) -> Void) {
        for watcher in everything { body(watcher) }
        if !byKey.isEmpty, let watchers = byKey[key] {
            for watcher in watchers { body(watcher) }
        }
        for (watcher, selection) in others where selection.contains(key) { body(watcher) }
    }

    /// Whether all keys have the same watchers.
    var areSameForAllKeys: Bool { others.isEmpty && byKey.isEmpty }

    /// Whether two keys are certain to have the same watchers; false if finding out would cost as much as asking for each.
    func areSame(for key: Key, and other: Key) -> Bool {
        key == other || others.isEmpty && byKey[key] == nil && byKey[other] == nil
    }
}

/// The name of a watcher, chosen by the caller that adds it.
public struct WatcherID: Hashable, Sendable {
    /// The number, which the caller gave.
    public let number: Int

    /// A name for a watcher.
    public init(_ number: Int) {
        self.number = number
    }
}

/// The countdowns that a watch follows or a list contains.
public struct Selection: Sendable {
    /// The selected keys.
    public let keys: Set<Key>
    /// The patterns of selected keys.
    public let patterns: [Pattern]
    /// Whether every key is selected.
    public let isEverything: Bool

    /// All countdowns.
    public static let everything = Selection(keys: [], patterns: [], isEverything: true)

    /// The countdowns whose key is one of the keys or matches one of the patterns; none if both are empty.
    public init(keys: Set<Key>, patterns: [Pattern]) {
        self.init(keys: keys, patterns: patterns, isEverything: patterns.contains(where: \.matchesAll))
    }

    private init(keys: Set<Key>, patterns: [Pattern], isEverything: Bool) {
        self.keys = keys
        self.patterns = patterns
        self.isEverything = isEverything
    }

    /// Whether a key is selected.
    public func contains(_ key: Key) -> Bool {
        isEverything || keys.contains(key) || patterns.contains { $0.matches(key) }
    }

    /// The cost of `contains`, in scanned entries.
    public var steps: Int { 1 + patternSteps }
    var patternSteps: Int { patterns.reduce(0) { $0 + $1.steps } }

    /// The memory that it takes, rounded up: a key that is looked up directly is in a table besides.
    public var bytes: Int {
        keys.reduce(patterns.reduce(0) { $0 + $1.bytes }) { $0 + $1.text.utf8.count + (hasKeysAlone ? 512 : 128) }
    }

    /// Whether it consists of few keys and no patterns, so that its countdowns are looked up without a scan.
    public var hasKeysAlone: Bool { patterns.isEmpty && !isEverything && keys.count <= Limits.keysAtOnce }
}
