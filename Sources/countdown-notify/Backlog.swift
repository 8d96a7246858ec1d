import IPC

/// One notification about ends.
enum EndNotification: Hashable {
    /// Ends may have been missed.
    case gap
    case one(Countdown)
    /// `count` ends, the newest of them by name.
    case several(newest: [Countdown], count: Int)

    /// The revision of the last end; nil for a gap.
    var revision: Int64? {
        switch self {
        case .gap: nil
        case .one(let countdown): countdown.revision
        case .several(let newest, _): newest.last?.revision
        }
    }

    var count: Int {
        switch self {
        case .gap: 0
        case .one: 1
        case .several(_, let count): count
        }
    }

    func notification(_ strings: Strings, _ rules: AnnouncementRules) -> Notification {
        switch self {
        case .gap:
            Notification(category: .trouble, summary: strings.text(.gap), body: strings.text(.gapDetails))
        case .one(let countdown):
            Notification(
                category: countdown.undoFailure == nil ? .ended : .trouble,
                summary: Strings.name(countdown),
                body: strings.end(countdown),
                urgency: urgency([countdown], rules),
                actions: countdown.undoFailure == nil ? [.again, .addTime] : [],
                ring: rules.announcement(of: countdown).ring
            )
        case .several(let newest, let count):
            Notification(
                category: .ended,
                summary: strings.text(.countdownsHaveEnded, count),
                body: Self.lines(newest, count, strings).joined(separator: "\n"),
                urgency: urgency(newest, rules)
            )
        }
    }

    private func urgency(_ countdowns: [Countdown], _ rules: AnnouncementRules) -> Notification.Urgency {
        countdowns.contains { rules.isCritical($0.key) } ? .critical : .normal
    }

    private static func lines(_ newest: [Countdown], _ count: Int, _ strings: Strings) -> [String] {
        let named = newest.map { countdown in
            let name = Strings.name(countdown)
            if countdown.undoFailure != nil { return "\(name): \(strings.end(countdown))" }
            return countdown.endedUSec.map { strings.text(.nameAndTime, name, strings.time($0)) } ?? name
        }
        return count > newest.count ? [strings.text(.earlierOnes, count - newest.count)] + named : named
    }
}

/// The ends that wait to be shown, in the order of their revisions. It keeps only those that will be named, and the number
/// of the others.
struct Backlog {
    /// Up to this number, ends have a notification each; more become one notification. GNOME Shell before version 48 keeps three
    /// notifications of a program and drops older ones.
    static let maximumSingle = 3
    /// The most ends that one notification names.
    static let maximumNamed = 10

    /// The number of ends that wait.
    private(set) var count = 0
    private var newest: [Countdown] = []
    /// Whether the notice that ends may have been missed comes first.
    private var hasGap = false

    var isEmpty: Bool { count == 0 && !hasGap }

    /// The revision of the newest end that waits.
    var newestRevision: Int64? { newest.last?.revision }

    mutating func append(_ ended: Countdown) {
        newest.append(ended)
        count += 1
        trim()
    }

    mutating func noteGap() { hasGap = true }

    /// The next notification; nil if nothing waits.
    var next: EndNotification? {
        if hasGap { return .gap }
        guard let first = newest.first else { return nil }
        return count <= Self.maximumSingle ? .one(first) : .several(newest: newest, count: count)
    }

    /// Takes out the ends of a notification that was delivered. More may have been appended since it was the next.
    mutating func remove(_ delivered: EndNotification) {
        if delivered == .gap { hasGap = false }
        count -= min(count, delivered.count)
        trim()
    }

    private mutating func trim() { newest = Array(newest.suffix(min(count, Self.maximumNamed))) }
}
