import CLinux
import CountdownCore
import Glibc

/// What systemd is told in the course of time.
struct Supervision {
    /// What the status says.
    struct Situation: Equatable {
        let running: Int
        /// The earliest deadline, nil where nothing runs.
        let next: WallInstant?
        /// Why nothing can be stored, nil where all is well.
        let trouble: String?
    }

    /// The status is told no more often; what systemd had no room for is told again then.
    private static let pause = Duration.seconds(1)

    private let supervisor: Supervisor
    private var told: Situation?
    private var reported: BootInstant
    /// When the watchdog has to hear from us next; nil where there is none.
    private var nextPing: BootInstant?
    /// When it may be said that the store fails, or works again; nil where what was said is so.
    private var nextReport: BootInstant?

    /// When systemd has to be told something though nothing happens.
    var next: BootInstant? { earliest(nextPing, nextReport) }

    init(supervisor: Supervisor, at now: Now) {
        self.supervisor = supervisor
        reported = now.boot
        nextPing = supervisor.watchdogInterval.map { _ in now.boot }
    }

    mutating func becomeReady(_ situation: Situation, at now: Now) {
        told = situation
        supervisor.notify("READY=1\nSTATUS=\(Self.status(situation, at: now))")
    }

    /// Feeds the watchdog where it is time, and tells the status where it has changed, at most once a second.
    mutating func report(_ situation: Situation, at now: Now) {
        feedWatchdog(at: now)
        let mayReport = reported + Self.pause
        guard mayReport <= now.boot, situation != told else {
            // A countdown more is told with the next turn; what keeps any from being stored, in time.
            nextReport = (situation.trouble == nil) == (told?.trouble == nil) ? nil : mayReport
            return
        }
        reported = now.boot
        let isTold = supervisor.notifyAtOnce("STATUS=\(Self.status(situation, at: now))")
        if isTold { told = situation }
        nextReport = isTold || (situation.trouble == nil) == (told?.trouble == nil) ? nil : now.boot + Self.pause
    }

    private mutating func feedWatchdog(at now: Now) {
        guard let interval = supervisor.watchdogInterval, let ping = nextPing, ping <= now.boot else { return }
        let half = Duration(microseconds: interval.microseconds / 2)
        nextPing = now.boot + (supervisor.notifyAtOnce("WATCHDOG=1") ? half : min(half, Self.pause))
    }

    func stop() {
        _ = supervisor.notifyAtOnce("STOPPING=1")
    }

    /// A line for `systemctl status`, which names no key: those are often phone numbers.
    static func status(_ situation: Situation, at now: Now) -> String {
        let next = situation.next.map { ", next \(clockTime(of: $0, at: now))" }
        let trouble = situation.trouble.map { "; changes cannot be stored: \($0)" }
        return "\(situation.running) running\(next ?? "")\(trouble ?? "")"
    }

    /// The local time, with the date where it is not today's.
    private static func clockTime(of instant: WallInstant, at now: Now) -> Substring {
        let (time, today) = (localMinute(of: instant), localMinute(of: now.wall))
        let parts = time.split(separator: " ")
        guard parts.count == 2, today.hasPrefix(parts[0]) else { return time[...] }
        return parts[1]
    }

    private static func localMinute(of instant: WallInstant) -> String {
        unsafe String(unsafeUninitializedCapacity: Int(LINUX_MINUTE_LENGTH)) {
            unsafe Int(linux_local_minute(time_t(instant.microseconds / 1_000_000), $0.baseAddress))
        }
    }
}
