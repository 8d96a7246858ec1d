import IPC
import Text
import Varlink

/// Whether an end rings.
enum RingMode: String {
    /// Again and again, until it is answered.
    case yes
    /// With one sound.
    case once
    case no
}

/// How a countdown is announced.
struct Announcement: Equatable {
    var ring: RingMode
    /// The duration before the end at which a warning is shown, in microseconds; nil for none.
    var warningUSec: Int64?
    /// Whether the machine is woken for its end.
    var wakes = false
}

/// How countdowns are announced: as the command line says, unless the metadata of a countdown says otherwise.
struct AnnouncementRules: Equatable {
    var ring = RingMode.yes
    /// The duration of the warning, in microseconds; nil for none.
    var warningUSec: Int64?
    /// The time that a button adds to a countdown that has ended, in microseconds.
    var snoozeUSec: Int64 = 60_000_000
    /// The ends of keys that match one of these have critical urgency.
    var critical: [KeyPattern] = []

    /// How a countdown is announced. Metadata that is not valid is ignored; `report` receives a sentence without the
    /// key for each.
    func announcement(of countdown: Countdown, report: (String) -> Void = { _ in }) -> Announcement {
        let metadata = countdown.metadata ?? [:]
        // A program waits for the end of a cooldown, not a person.
        let isTimer = countdown.isTimer || countdown.undoFailure != nil
        var announcement = Announcement(ring: isTimer ? ring : .no, warningUSec: isTimer ? warningUSec : nil)
        func read(_ name: String, _ expectation: String, _ apply: (String) -> Bool) {
            guard let value = metadata[name], !apply(value) else { return }
            report("metadata \(name)=\(PrintableText.escape(value)) is ignored: use \(expectation)")
        }
        read("ring", "yes, no or once") { value in
            guard let mode = RingMode(rawValue: value) else { return false }
            announcement.ring = mode
            return true
        }
        read("warn", "a duration such as 30s, or no") { value in
            guard let warning = value == "no" ? 0 : try? DurationParser.parse(value) else { return false }
            announcement.warningUSec = warning > 0 ? warning : nil
            return true
        }
        read("wake", "yes or no") { value in
            announcement.wakes = value == "yes"
            return value == "yes" || value == "no"
        }
        return announcement
    }

    /// Whether the end of a key is shown with critical urgency.
    func isCritical(_ key: String) -> Bool { critical.contains { $0.matches(key) } }
}
