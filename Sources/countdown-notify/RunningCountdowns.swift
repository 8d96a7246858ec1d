import IPC
import Varlink

/// The deadlines of the running countdowns that have a warning or wake the machine. It does no I/O and reads no clock.
///
/// Deadlines are kept in microseconds of the boot clock, so that neither setting the system clock nor a suspend moves them.
struct RunningCountdowns {
    private struct Item {
        let countdown: Countdown
        let announcement: Announcement
        var deadline: Int64
        /// The instant of the warning; nil if the countdown has no warning, or its warning was shown.
        var warning: Int64?
    }

    private let rules: AnnouncementRules
    private var items: TextMap<Item> = [:]
    /// An instant of the boot clock before which no warning is due; nil if there are no warnings.
    private(set) var nextWarning: Int64?
    /// The next instant of the boot clock for which the machine has to be awake; nil if no countdown wakes it.
    private(set) var nextWake: Int64?

    init(_ rules: AnnouncementRules) { self.rules = rules }

    mutating func clear() { self = RunningCountdowns(rules) }

    /// Takes an event at an instant of the boot clock and of the system clock. `report` receives a sentence for each
    /// value of the metadata that is not valid.
    mutating func receive(_ event: Event, boot: Int64, wall: Int64, report: (String) -> Void = { _ in }) {
        guard let key = event.key, event.type != .tick else { return }
        let before = items[key]
        defer { if before?.announcement.wakes == true || items[key]?.announcement.wakes == true { findWake(boot) } }
        guard let countdown = event.countdown else {
            // `adjusted` without a countdown says that the system clock was set.
            guard let before, let remaining = event.remainingUSec else { return }
            items[key] = scheduled(before, remaining: remaining, boot)
            return
        }
        items[key] = nil
        guard countdown.state == .running else { return }
        let announcement = rules.announcement(of: countdown, report: report)
        guard announcement.wakes || announcement.warningUSec != nil else { return }
        // The reported time is as old as the machine was suspended in between. The deadline is not, unless the clock was
        // set; then another event follows.
        let remaining = min(countdown.remainingUSec, countdown.deadlineUSec.map { $0 &- wall } ?? .max)
        let item = Item(countdown: countdown, announcement: announcement, deadline: 0)
        items[key] = scheduled(item, remaining: max(0, remaining), boot)
    }

    private mutating func scheduled(_ item: Item, remaining: Int64, _ boot: Int64) -> Item {
        var item = item
        item.deadline = boot &+ remaining
        // A change after the instant of the warning does not warn: a person or a program has just made it.
        item.warning = item.announcement.warningUSec.flatMap { remaining > $0 ? item.deadline - $0 : nil }
        if let warning = item.warning { nextWarning = min(nextWarning ?? .max, warning) }
        return item
    }

    /// The countdowns whose warning is due, the ones that end first in front. Each is returned once.
    mutating func takeWarnings(boot: Int64) -> [Countdown] {
        guard let next = nextWarning, next <= boot else { return [] }
        let due = items.values.filter { $0.warning ?? .max <= boot }
        for item in due { items[item.countdown.key]?.warning = nil }
        nextWarning = items.values.compactMap(\.warning).min()
        // After a suspend, the end may have come before its warning.
        return due.filter { $0.deadline > boot }.sorted { $0.deadline < $1.deadline }.map(\.countdown)
    }

    /// Notes that the machine is awake at an instant of the boot clock.
    mutating func woken(boot: Int64) {
        guard let nextWake, nextWake <= boot else { return }
        findWake(boot)
    }

    private mutating func findWake(_ boot: Int64) {
        nextWake = items.values.filter { $0.announcement.wakes && $0.deadline > boot }.map(\.deadline).min()
    }
}
