/// The watchers of each key.
///
/// Keys, and patterns such as `login/*`, are looked up in tables. Every other pattern is tried for each key, once for all of its
/// watchers; `Limits.matchStepsInAll` limits these.
struct Subscribers: Sendable {
    private var everything: [WatcherID] = []
    private var byKey = WatcherTable()
    private var byPrefix = WatcherTable()
    private var byPattern = TriedPatterns()

    /// The cost of the patterns that are tried for each key, in scanned entries.
    var patternSteps: Int { byPattern.steps }

    /// How much `patternSteps` would grow with a selection.
    func patternSteps(adding selection: Selection) -> Int {
        Set(selection.patterns).reduce(0) { $0 + (byPattern.has($1) ? 0 : $1.stepsIfTried) }
    }

    mutating func insert(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything { return everything.append(watcher) }
        for key in selection.keys { byKey.insert(watcher, under: key) }
        for pattern in selection.patterns {
            if let prefix = pattern.prefix {
                byPrefix.insert(watcher, under: prefix)
            } else {
                byPattern.insert(watcher, pattern)
            }
        }
    }

    mutating func remove(_ watcher: WatcherID, _ selection: Selection) {
        if selection.isEverything { return everything.removeAll { $0 == watcher } }
        for key in selection.keys { byKey.remove(watcher, under: key) }
        for pattern in selection.patterns {
            if let prefix = pattern.prefix {
                byPrefix.remove(watcher, under: prefix)
            } else {
                byPattern.remove(watcher, pattern)
            }
        }
    }

    /// Calls back once with each watcher of a key.
    func forEach(of key: Key, _ body: (WatcherID) -> Void) {
        for watcher in everything { body(watcher) }
        // A watcher may have several reasons to follow the key.
        var found = byKey.isEmpty ? [] : byKey.watchers(under: key)
        if !byPrefix.isEmpty {
            for count in 1...key.withBytes({ $0.count }) where byPrefix.counts[count] > 0 {
                guard let prefix = key.prefix(bytes: count) else { continue }
                found.formUnion(byPrefix.watchers(under: prefix))
            }
        }
        if !byPattern.isEmpty { byPattern.forEachMatch(of: key) { found.formUnion($0) } }
        for watcher in found { body(watcher) }
    }

    /// Whether all keys have the same watchers.
    var areSameForAllKeys: Bool { byKey.isEmpty && byPrefix.isEmpty && byPattern.isEmpty }

    /// Whether two keys are certain to have the same watchers; false if finding out would cost as much as asking for each.
    func areSame(for key: Key, and other: Key) -> Bool {
        key == other
            || byPrefix.isEmpty && byPattern.isEmpty && byKey.watchers(under: key).isEmpty
                && byKey.watchers(under: other).isEmpty
    }
}

/// The watchers under each of many keys or prefixes.
///
/// Many small tables: each grows on its own, so growing never copies more than some thousand entries.
private struct WatcherTable: Sendable {
    private var tables = [[Key: Set<WatcherID>]](repeating: [:], count: KeyIndex.tableCount)
    private var count = 0
    /// The number of keys or prefixes with as many bytes.
    private(set) var counts = [Int](repeating: 0, count: Key.maximumBytes + 1)

    var isEmpty: Bool { count == 0 }

    func watchers(under key: Key) -> Set<WatcherID> { tables[Self.table(of: key)][key] ?? [] }

    mutating func insert(_ watcher: WatcherID, under key: Key) {
        let table = Self.table(of: key)
        let before = tables[table].count
        tables[table][key, default: []].insert(watcher)
        if tables[table].count > before { note(key, added: 1) }
    }

    mutating func remove(_ watcher: WatcherID, under key: Key) {
        let table = Self.table(of: key)
        tables[table][key]?.remove(watcher)
        guard tables[table][key]?.isEmpty == true else { return }
        tables[table][key] = nil
        note(key, added: -1)
    }

    private mutating func note(_ key: Key, added: Int) {
        count += added
        counts[key.withBytes { $0.count }] += added
    }

    private static func table(of key: Key) -> Int { Int(KeyIndex.place(of: key).table) }
}

/// Patterns that are tried for each key, each once for all of its watchers.
private struct TriedPatterns: Sendable {
    /// Beside the patterns, because a key is compared with all filters and with few patterns.
    private var filters: [Pattern.Filter] = []
    private var patterns: [(pattern: Pattern, watchers: Set<WatcherID>)] = []
    private var places: [Pattern: Int] = [:]
    private(set) var steps = 0

    var isEmpty: Bool { filters.isEmpty }

    func has(_ pattern: Pattern) -> Bool { places[pattern] != nil }

    mutating func insert(_ watcher: WatcherID, _ pattern: Pattern) {
        if let place = places[pattern] {
            patterns[place].watchers.insert(watcher)
            return
        }
        places[pattern] = patterns.count
        patterns.append((pattern, [watcher]))
        filters.append(pattern.filter)
        steps += pattern.steps
    }

    mutating func remove(_ watcher: WatcherID, _ pattern: Pattern) {
        guard let place = places[pattern] else { return }
        patterns[place].watchers.remove(watcher)
        guard patterns[place].watchers.isEmpty else { return }
        places[pattern] = nil
        patterns.swapAt(place, patterns.count - 1)
        filters.swapAt(place, filters.count - 1)
        patterns.removeLast()
        filters.removeLast()
        if place < patterns.count { places[patterns[place].pattern] = place }
        steps -= pattern.steps
    }

    /// Calls back with the watchers of each pattern that matches a key.
    func forEachMatch(of key: Key, _ body: (Set<WatcherID>) -> Void) {
        let features = Pattern.Filter(of: key)
        for place in filters.indices where filters[place].mayMatch(features) && patterns[place].pattern.matches(key) {
            body(patterns[place].watchers)
        }
    }
}

/// The name of a watcher, chosen by the caller that adds it.
public struct WatcherID: Hashable, Sendable {
    /// The number, which the caller gave.
    public let number: Int

    /// A name for a watcher.
    public init(_ number: Int) { self.number = number }
}

/// The countdowns that a watch follows or a list contains.
public struct Selection: Sendable {
    /// The selected keys, and patterns without a wildcard.
    public let keys: Set<Key>
    /// The patterns with a wildcard.
    public let patterns: [Pattern]
    /// Whether every key is selected.
    public let isEverything: Bool

    /// All countdowns.
    public static let everything = Selection()

    /// The countdowns whose key is one of the keys or matches one of the patterns; none if both are empty.
    public init(keys: Set<Key>, patterns: [Pattern]) {
        self.keys = keys.union(patterns.compactMap(\.key))
        self.patterns = patterns.filter { $0.hasWildcards }
        isEverything = patterns.contains(where: \.matchesAll)
    }

    private init() { (keys, patterns, isEverything) = ([], [], true) }

    /// Whether a key is selected.
    public func contains(_ key: Key) -> Bool {
        isEverything || keys.contains(key) || patterns.contains { $0.matches(key) }
    }

    /// The cost of `contains`, in scanned entries.
    public var steps: Int { patterns.reduce(1) { $0 + $1.steps } }

    /// The memory that it takes, rounded up.
    ///
    /// - Parameter tables: how many tables of watchers have its keys: none for a list, one for a watch, two for a watch with ticks.
    /// - Returns: the bytes.
    public func bytes(tables: Int) -> Int {
        keys.reduce(patterns.reduce(0) { $0 + $1.bytes }) { $0 + $1.text.utf8.count + 128 + 192 * tables }
    }

    /// Whether it consists of few keys and no patterns, so that its countdowns are looked up without a scan.
    public var hasKeysAlone: Bool { patterns.isEmpty && !isEverything && keys.count <= Limits.keysAtOnce }
}
