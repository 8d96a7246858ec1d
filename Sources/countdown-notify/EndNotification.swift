import IPC

/// A notification about ends.
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
