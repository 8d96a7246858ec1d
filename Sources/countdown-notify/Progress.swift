import IPC
import Varlink

/// The notifications of running and paused timers: one each, updated in its place.
struct ProgressNotifications {
    private struct Shown {
        /// The percentage in the last update.
        var percent: Int32
        /// The number of the notification; 0 before it is shown.
        var number: UInt32 = 0
        /// Whether the user closed it, and so does not want to see more of it.
        var isClosed = false
        /// How often in a row it was refused.
        var refusals = 0
        /// Whether its key is in `changed`.
        var isChanged = false
    }

    /// After this many refusals in a row the notification of a countdown is not sent again.
    private static let maximumRefusals = 5

    /// Whether the notification service shows a percentage; otherwise ticks change nothing.
    var hasBars = true
    private var board = CountdownBoard()
    private var shown: TextMap<Shown> = [:]
    /// The keys of the notifications to make or update, in that order.
    private var changed: [String] = []

    /// Takes an event. Returns the number of a notification that is to be closed.
    mutating func receive(_ event: Event) -> UInt32? {
        switch board.apply(event) {
        case nil: break
        case .updated(let countdown) where countdown.isTimer:
            update(countdown, showing: ![.adjusted, .paused].contains(event.type))
        case .ticked(let countdown):
            guard hasBars else { break }
            let percent = Int32(countdown.percentGone)
            guard let item = shown[countdown.key], percent != item.percent else { break }
            shown[countdown.key]?.percent = percent
            touch(countdown.key)
        // A timer may have had the key before.
        case .ended(let countdown), .updated(let countdown):
            guard let item = shown.removeValue(forKey: countdown.key) else { break }
            if item.isChanged { changed.removeAll { $0.hasSameBytes(as: countdown.key) } }
            return item.number == 0 ? nil : item.number
        }
        return nil
    }

    /// Forgets all countdowns. Returns the numbers of the notifications that are to be closed.
    mutating func clear() -> [UInt32] {
        defer { self = ProgressNotifications(hasBars: hasBars) }
        return shown.values.map(\.number).filter { $0 != 0 }
    }

    /// Notes that the notifications are gone, and shows them again.
    mutating func forgetNumbers() {
        for key in shown.keys {
            shown[key]?.number = 0
            touch(key)
        }
    }

    /// Notes that a notification was closed; false if it was another one.
    @discardableResult
    mutating func closed(_ number: UInt32) -> Bool {
        guard let key = shown.first(where: { $0.value.number == number })?.key else { return false }
        shown[key]?.number = 0
        shown[key]?.isClosed = true
        return true
    }

    /// Notes the number of a countdown's notification; false if the countdown has ended, or the user has closed the
    /// notification meanwhile.
    mutating func shown(_ key: String, as number: UInt32) -> Bool {
        guard shown[key]?.isClosed == false else { return false }
        shown[key]?.number = number
        shown[key]?.refusals = 0
        return true
    }

    /// Notes that a notification was refused. It is sent again, up to a limit.
    mutating func refused(_ key: String) {
        guard let item = shown[key] else { return }
        shown[key]?.refusals += 1
        if item.refusals + 1 < Self.maximumRefusals { touch(key) } else { drop(key) }
    }

    /// Shows no more of a countdown until it is started again.
    mutating func drop(_ key: String) { shown[key]?.isClosed = true }

    /// The next notification to make or update. It counts as made.
    mutating func next(_ strings: Strings) -> (key: String, notification: Notification, replacing: UInt32)? {
        while let key = changed.first {
            changed.removeFirst()
            shown[key]?.isChanged = false
            guard let item = shown[key], !item.isClosed, let countdown = board.countdowns[key] else { continue }
            return (key, Self.notification(countdown, item.percent, strings), item.number)
        }
        return nil
    }

    /// Whether a notification is to be made or updated.
    var hasNext: Bool { !changed.isEmpty }

    private mutating func update(_ countdown: Countdown, showing: Bool) {
        var item = shown[countdown.key] ?? Shown(percent: 0)
        item.percent = Int32(countdown.percentGone)
        if showing {
            item.isClosed = false
            item.refusals = 0
        }
        shown[countdown.key] = item
        touch(countdown.key)
    }

    private mutating func touch(_ key: String) {
        guard let item = shown[key], !item.isChanged else { return }
        changed.append(key)
        shown[key]?.isChanged = true
    }

    private static func notification(_ countdown: Countdown, _ percent: Int32, _ strings: Strings) -> Notification {
        Notification(
            category: .progress,
            summary: Strings.name(countdown),
            body: strings.progress(countdown),
            urgency: .low,
            progress: percent
        )
    }
}
