import IPC

/// The endings that are to be told, in the order of their revisions. However many there are, it takes no more room than
/// those that will be named.
struct Backlog {
    /// So many are told one by one; more at once become one notification. GNOME Shell keeps three of a program before
    /// version 48, and drops the older ones.
    static let oneByOne = 3
    /// So many are named where they are told in one.
    static let named = 10

    private var newest: [Countdown] = []
    private var count = 0
    /// Whether it is to be told first that endings may have been missed.
    private var hasGap = false

    var isEmpty: Bool { count == 0 && !hasGap }

    /// That of the newest ending that waits.
    var newestRevision: Int64? { newest.last?.revision }

    /// How many endings wait.
    var waiting: Int { count }

    mutating func append(_ ending: Countdown) {
        newest.append(ending)
        count += 1
        trim()
    }

    mutating func noteGap() { hasGap = true }

    /// What is to be told next; nil where there is nothing.
    var next: Telling? {
        if hasGap { return .gap }
        guard let first = newest.first else { return nil }
        return count <= Self.oneByOne ? .ending(first) : .endings(newest: newest, count: count)
    }

    /// Takes out what has been told; more may have come since that was the next.
    mutating func remove(_ told: Telling) {
        if told == .gap { hasGap = false }
        count -= min(count, told.count)
        trim()
    }

    /// Those that are not the newest are only counted.
    private mutating func trim() { newest = Array(newest.suffix(min(count, Self.named))) }
}
