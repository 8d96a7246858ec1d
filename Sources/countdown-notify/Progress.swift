import IPC

/// The countdowns whose progress is shown, each in a notification of its own that is updated in its place.
struct ProgressNotifications {
    private struct Entry {
        var countdown: Countdown
        /// Percent, as it was told to be last.
        var percent: Int32
        /// The notification that shows it; 0 where none does.
        var number: UInt32 = 0
        /// Whether it was taken away by whoever looks at it, who wants to see no more of it.
        var isClosed = false
        /// How often in a row its notification was refused.
        var refusals = 0
        /// Whether its key stands in `changed`.
        var isChanged = false
    }

    /// After so many refusals in a row the notification of a countdown is not sent again.
    private static let maximumRefusals = 5

    private var entries: [String: Entry] = [:]
    /// The keys of what is to be made or updated, in that order.
    private var changed: [String] = []

    /// Notes what is told of a countdown. The notification that is to be taken away is returned, where there is one.
    mutating func take(_ event: Event) -> UInt32? {
        switch event.type {
        case .attached, .started, .restarted, .resumed:
            if let countdown = event.countdown { put(countdown, showing: true) }
        case .adjusted, .paused:
            if let countdown = event.countdown { put(countdown, showing: false) }
        case .tick:
            if let key = event.key, let remaining = event.remainingUSec { tick(key, remaining) }
        case .finished, .cancelled:
            guard let key = event.key, let entry = entries.removeValue(forKey: key) else { return nil }
            if entry.isChanged { changed.removeAll { $0 == key } }
            return entry.number == 0 ? nil : entry.number
        case .synced, .heartbeat: break
        }
        return nil
    }

    /// Empties it, and returns the notifications that are to be taken away.
    mutating func clear() -> [UInt32] {
        defer { self = ProgressNotifications() }
        return entries.values.map(\.number).filter { $0 != 0 }
    }

    /// Notes that nobody shows what was shown, but somebody else may.
    mutating func forgetNumbers() {
        for key in entries.keys {
            entries[key]?.number = 0
            touch(key)
        }
    }

    /// Notes that a notification was taken away.
    mutating func close(_ number: UInt32) {
        guard let key = entries.first(where: { $0.value.number == number })?.key else { return }
        entries[key]?.number = 0
        entries[key]?.isClosed = true
    }

    /// Notes by which notification a countdown is shown; false where it is no more to be.
    mutating func show(_ key: String, as number: UInt32) -> Bool {
        guard entries[key] != nil else { return false }
        entries[key]?.number = number
        entries[key]?.refusals = 0
        return true
    }

    /// Has a countdown shown again whose notification was refused, up to a limit.
    mutating func retry(_ key: String) {
        guard let entry = entries[key] else { return }
        entries[key]?.refusals += 1
        if entry.refusals + 1 < Self.maximumRefusals { touch(key) } else { drop(key) }
    }

    /// Shows no more of a countdown whose notification cannot be sent, until the countdown is started again.
    mutating func drop(_ key: String) { entries[key]?.isClosed = true }

    /// The next countdown whose notification is to be made or updated, which is then taken as done.
    mutating func next(_ strings: Strings) -> (key: String, notification: Notification, replacing: UInt32)? {
        while let key = changed.first {
            changed.removeFirst()
            entries[key]?.isChanged = false
            guard let entry = entries[key], !entry.isClosed else { continue }
            return (key, Self.notification(entry.countdown, entry.percent, strings), entry.number)
        }
        return nil
    }

    /// Whether something is to be made or updated.
    var hasNext: Bool { !changed.isEmpty }
}

extension ProgressNotifications {
    private mutating func put(_ countdown: Countdown, showing: Bool) {
        let percent = Self.percent(countdown.remainingUSec, of: countdown)
        var entry = entries[countdown.key] ?? Entry(countdown: countdown, percent: percent)
        entry.countdown = countdown
        entry.percent = percent
        if showing {
            entry.isClosed = false
            entry.refusals = 0
        }
        entries[countdown.key] = entry
        touch(countdown.key)
    }

    private mutating func tick(_ key: String, _ remaining: Int64) {
        guard let entry = entries[key] else { return }
        let percent = Self.percent(remaining, of: entry.countdown)
        guard percent != entry.percent else { return }
        entries[key]?.percent = percent
        touch(key)
    }

    private mutating func touch(_ key: String) {
        guard let entry = entries[key], !entry.isChanged else { return }
        changed.append(key)
        entries[key]?.isChanged = true
    }

    private static func percent(_ remaining: Int64, of countdown: Countdown) -> Int32 {
        guard countdown.durationUSec > 0 else { return 100 }
        let done = 1 - Double(remaining) / Double(countdown.durationUSec)
        return Int32(min(max(done * 100, 0), 100))
    }

    private static func notification(_ countdown: Countdown, _ percent: Int32, _ strings: Strings) -> Notification {
        Notification(
            category: .progress,
            summary: Strings.name(countdown),
            body: countdown.deadlineUSec.map { "Ends at \(strings.time($0))" } ?? "Paused",
            urgency: .low,
            progress: percent
        )
    }
}
