import IPC
import Varlink

/// The notifications before the end of countdowns. Each is closed when its countdown changes or ends.
struct WarningNotifications {
    /// Those that wait to be shown, in that order.
    private var waiting: [Countdown] = []
    /// The numbers of those on the desktop, by their keys.
    private var numbers: TextMap<UInt32> = [:]

    /// The countdown whose warning is to be shown next; nil if no warning waits.
    var next: Countdown? { waiting.first }

    mutating func append(_ countdown: Countdown) {
        waiting.removeAll { $0.key.hasSameBytes(as: countdown.key) }
        waiting.append(countdown)
    }

    /// Takes an event. Returns the number of a notification that is to be closed.
    mutating func receive(_ event: Event) -> UInt32? {
        guard let key = event.key, event.type != .tick, event.type != .attached else { return nil }
        waiting.removeAll { $0.key.hasSameBytes(as: key) }
        return numbers.removeValue(forKey: key)
    }

    /// Notes that a warning was shown, or, with nil, that it cannot be. Returns false if the countdown has changed
    /// meanwhile.
    @discardableResult
    mutating func shown(_ key: String, as number: UInt32?) -> Bool {
        guard let place = waiting.firstIndex(where: { $0.key.hasSameBytes(as: key) }) else { return false }
        waiting.remove(at: place)
        numbers[key] = number
        return true
    }

    /// Notes that a notification was closed; false if it was another one.
    @discardableResult
    mutating func closed(_ number: UInt32) -> Bool {
        guard let key = numbers.first(where: { $0.value == number })?.key else { return false }
        numbers[key] = nil
        return true
    }

    /// Notes that another notification service gives numbers from now on.
    mutating func forgetNumbers() { numbers = [:] }

    /// Forgets all warnings. Returns the numbers of the notifications that are to be closed.
    mutating func clear() -> [UInt32] {
        defer { self = WarningNotifications() }
        return Array(numbers.values)
    }

    func notification(_ countdown: Countdown, _ strings: Strings) -> Notification {
        Notification(category: .warning, summary: Strings.name(countdown), body: strings.warning(countdown))
    }
}
