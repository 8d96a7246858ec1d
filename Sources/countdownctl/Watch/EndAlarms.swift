import IPC
import Varlink

/// The instants at which countdowns have a given time left, for `--before`. A value without clocks: the owner passes the
/// instants, in microseconds of the boot clock, which goes on while the machine sleeps and cannot be set.
struct EndAlarms {
    private struct Alarm {
        var instant: Int64
        var countdown: Countdown
    }

    /// The time before the end, in microseconds.
    let lead: Int64
    private var alarms: TextMap<Alarm> = [:]
    /// The earliest instant; nil if no running countdown has more than the lead left.
    private(set) var next: Int64?

    init(lead: Int64) { self.lead = lead }

    /// Takes an event, at instants of both clocks. A countdown that has no more than the lead left gets no alarm, or
    /// loses the one it had.
    mutating func receive(_ event: Event, wall: Int64, boot: Int64) {
        guard event.type != .tick, let key = event.key ?? event.countdown?.key else { return }
        guard var countdown = event.countdown ?? alarms[key]?.countdown else { return }
        // `adjusted` without a countdown says that the system clock was set.
        if event.countdown == nil, let remaining = event.remainingUSec {
            countdown.deadlineUSec = wall + min(max(remaining, 0), 1 << 60)
        }
        guard countdown.state == .running, let deadline = countdown.deadlineUSec else { return remove(key) }
        let remaining = deadline.clampedDifference(from: wall)
        guard remaining > lead else { return remove(key) }
        remove(key)
        // Of a daemon that gives nonsense, no sum overflows.
        let instant = boot + min(remaining - lead, 1 << 60)
        alarms[key] = Alarm(instant: instant, countdown: countdown)
        next = min(next ?? instant, instant)
    }

    /// Removes the alarms that are due. Returns their countdowns with the remaining time, the earliest first, without
    /// those that should have ended.
    mutating func takeDue(at boot: Int64) -> [Countdown] {
        guard let next, next <= boot else { return [] }
        let due = alarms.values.filter { $0.instant <= boot }.sorted { $0.instant < $1.instant }
        for alarm in due { alarms[alarm.countdown.key] = nil }
        self.next = alarms.values.map(\.instant).min()
        return due.compactMap { alarm in
            var countdown = alarm.countdown
            countdown.remainingUSec = lead - (boot - alarm.instant)
            return countdown.remainingUSec > 0 ? countdown : nil
        }
    }

    private mutating func remove(_ key: String) {
        guard let alarm = alarms.removeValue(forKey: key), alarm.instant == next else { return }
        next = alarms.values.map(\.instant).min()
    }
}
