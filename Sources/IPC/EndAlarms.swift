import Varlink

/// The instants at which running countdowns have a given time left. It does no I/O and reads no clock: the owner passes the
/// instants, in microseconds.
///
/// Deadlines are kept on the boot clock, so that neither setting the system clock nor a suspend moves them.
package struct EndAlarms {
    private struct Alarm {
        var countdown: Countdown
        let lead: Int64
        var deadline: Int64 = 0
        /// Nil if the countdown had no more than the lead left, and after the alarm.
        var instant: Int64?

        mutating func set(_ remaining: Int64, _ boot: Int64) {
            // Of a daemon that gives nonsense, no sum overflows.
            let remaining = min(max(remaining, 0), 1 << 60)
            deadline = boot + remaining
            instant = remaining > lead ? deadline - lead : nil
        }
    }

    private var alarms: TextMap<Alarm> = [:]
    /// The instant of the next alarm on the boot clock; nil if no alarm will come.
    package private(set) var next: Int64?

    package init() {}

    /// Takes an event, at instants of both clocks. The alarm of its countdown is replaced: it comes the lead before the end if
    /// more than the lead is left. The lead is in microseconds; if it is nil, the countdown has no alarm.
    package mutating func receive(_ event: Event, lead: Int64?, wall: Int64, boot: Int64) {
        guard event.type != .tick, let key = event.key ?? event.countdown?.key else { return }
        let old = alarms[key]
        var alarm: Alarm?
        if let countdown = event.countdown {
            // The reported time is as old as the machine was suspended in between. The deadline is not, unless the clock was
            // set; then another event follows.
            let remaining = min(countdown.remainingUSec, countdown.deadlineUSec.map { $0 &- wall } ?? .max)
            alarm = countdown.state == .running ? lead.map { Alarm(countdown: countdown, lead: $0) } : nil
            alarm?.set(remaining, boot)
        } else {
            // `adjusted` without a countdown says that the system clock was set.
            guard let old, let remaining = event.remainingUSec else { return }
            alarm = old
            alarm?.set(remaining, boot)
            alarm?.countdown.deadlineUSec = wall &+ remaining
        }
        alarms[key] = alarm
        if let instant = alarm?.instant { next = min(next ?? instant, instant) }
        if let instant = old?.instant, instant == next { findNext() }
    }

    /// The countdowns whose alarm is due, with the remaining time, the ones that end first in front. Each is returned once,
    /// without those that should have ended.
    package mutating func takeDue(at boot: Int64) -> [Countdown] {
        guard let next, next <= boot else { return [] }
        let due = alarms.values.filter { $0.instant ?? .max <= boot }
        for alarm in due { alarms[alarm.countdown.key]?.instant = nil }
        findNext()
        return due.filter { $0.deadline > boot }.sorted { $0.deadline < $1.deadline }.map { alarm in
            var countdown = alarm.countdown
            countdown.remainingUSec = alarm.deadline - boot
            return countdown
        }
    }

    private mutating func findNext() { next = alarms.values.compactMap(\.instant).min() }
}
