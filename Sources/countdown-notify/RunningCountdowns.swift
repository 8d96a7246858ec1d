import IPC

/// The running countdowns that have a warning or wake the machine. It does no I/O and reads no clock.
struct RunningCountdowns {
    private let rules: AnnouncementRules
    private var warnings = EndAlarms()
    private var wakeUps = EndAlarms()

    init(_ rules: AnnouncementRules) { self.rules = rules }

    /// The instant of the boot clock at which the next warning is due; nil if there are no warnings.
    var nextWarning: Int64? { warnings.next }

    /// The next instant of the boot clock for which the machine has to be awake; nil if no countdown wakes it.
    var nextWake: Int64? { wakeUps.next }

    mutating func clear() { self = RunningCountdowns(rules) }

    /// Takes an event at an instant of the boot clock and of the system clock. `report` receives a sentence for each
    /// value of the metadata that is not valid.
    mutating func receive(_ event: Event, boot: Int64, wall: Int64, report: (String) -> Void = { _ in }) {
        let running = event.type == .tick || event.countdown?.state != .running ? nil : event.countdown
        let announcement = running.map { rules.announcement(of: $0, report: report) }
        // A change after the instant of the warning does not warn: a person or a program has just made it.
        warnings.receive(event, lead: announcement?.warningUSec, wall: wall, boot: boot)
        wakeUps.receive(event, lead: announcement?.wakes == true ? 0 : nil, wall: wall, boot: boot)
    }

    /// The countdowns whose warning is due, the ones that end first in front. Each is returned once.
    mutating func takeWarnings(boot: Int64) -> [Countdown] { warnings.takeDue(at: boot) }

    /// Notes that the machine is awake at an instant of the boot clock.
    mutating func woken(boot: Int64) { _ = wakeUps.takeDue(at: boot) }
}
