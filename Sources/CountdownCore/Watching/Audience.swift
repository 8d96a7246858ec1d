/// Who hears of a key.
///
/// Those who follow a few keys alone are found at once; those with patterns, or with many keys, are asked one by one: so
/// that to come and to go is cheap for everybody.
struct Audience: Sendable {
    private var everything: [WatcherID] = []
    private var byKey: [Key: Set<WatcherID>] = [:]
    private var others: [(watcher: WatcherID, selection: Selection)] = []
    /// What it takes to match a key against all patterns.
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

    /// Whether all keys are heard of by the same.
    var hearsAlike: Bool { others.isEmpty && byKey.isEmpty }

    /// Whether two keys are certain to be heard of by the same; false where that would take longer to find out than to
    /// ask for each.
    func hearsAlike(of key: Key, and other: Key) -> Bool {
        key == other || others.isEmpty && byKey[key] == nil && byKey[other] == nil
    }
}
