import CLinux
import CSystemd
import CountdownCore
import Glibc
import System
import Text

/// Keeps systemd informed: readiness, status and watchdog.
struct ServiceStatusReporter {
    /// The content of the status line.
    struct StatusLine: Equatable {
        let running: Int
        /// The earliest deadline; nil if no countdown is running.
        let next: WallInstant?
        /// Why changes cannot be stored; nil if they can.
        let trouble: String?
        /// The loss of the fleet's engine; nil if the engine is reached or the countdowns are not shared.
        var loss: EngineWatch.Loss?

        /// Whether another status differs in more than numbers, so that it is reported in time. None running is such a
        /// difference: otherwise the call that starts the daemon would not show before the watchdog is due.
        func isUrgent(after other: StatusLine?) -> Bool {
            (trouble == nil) != (other?.trouble == nil) || (loss == nil) != (other?.loss == nil)
                || (running == 0) != (other?.running == 0)
        }
    }

    /// The least time between two status lines, and before a retry.
    private static let pause = Duration.seconds(1)

    private let serviceManager: ServiceManager
    private var reportedLine: StatusLine?
    private var lastReport: BootInstant
    /// When the watchdog is due; nil if the service manager has set no watchdog.
    private var nextPing: BootInstant?
    /// When to report that the store or the engine of a fleet fails or works again; nil if that was reported.
    private var nextReport: BootInstant?

    /// When a notification is due although nothing else happens.
    var next: BootInstant? { earliest(nextPing, nextReport) }

    init(serviceManager: ServiceManager, at now: Now) {
        self.serviceManager = serviceManager
        lastReport = now.boot
        nextPing = serviceManager.watchdogInterval.map { _ in now.boot }
    }

    mutating func becomeReady(_ statusLine: StatusLine, at now: Now) {
        reportedLine = statusLine
        serviceManager.notify("READY=1\nSTATUS=\(Self.text(statusLine, at: now))")
    }

    /// Feeds the watchdog if it is due, and reports a changed status, at most once a second.
    mutating func report(_ statusLine: StatusLine, at now: Now) {
        feedWatchdog(at: now)
        let mayReport = lastReport + Self.pause
        guard mayReport <= now.boot, statusLine != reportedLine else {
            // A different number of countdowns is reported in a later turn.
            nextReport = statusLine.isUrgent(after: reportedLine) ? mayReport : nil
            return
        }
        lastReport = now.boot
        let isReported = serviceManager.notifyAtOnce("STATUS=\(Self.text(statusLine, at: now))")
        if isReported { reportedLine = statusLine }
        nextReport = !isReported && statusLine.isUrgent(after: reportedLine) ? now.boot + Self.pause : nil
    }

    private mutating func feedWatchdog(at now: Now) {
        guard let interval = serviceManager.watchdogInterval, let ping = nextPing, ping <= now.boot else { return }
        let half = Duration(microseconds: interval.microseconds / 2)
        nextPing = now.boot + (serviceManager.notifyAtOnce("WATCHDOG=1") ? half : min(half, Self.pause))
    }

    func stop() { _ = serviceManager.notifyAtOnce("STOPPING=1") }

    /// A line for `systemctl status`. It names no key, because keys are often phone numbers.
    static func text(_ statusLine: StatusLine, at now: Now) -> String {
        let next = statusLine.next.map { ", next \(clockTime(of: $0, at: now))" }
        let trouble = statusLine.trouble.map { "; changes cannot be stored: \($0)" }
        let loss = statusLine.loss.map { loss in
            let since = clockTime(of: loss.since, at: now)
            return "; the fleet's engine is lost since \(since): \(PrintableText.escape(loss.reason))"
        }
        return "\(statusLine.running) running\(next ?? "")\(trouble ?? "")\(loss ?? "")"
    }

    /// The local time, with the date if it is not today's.
    private static func clockTime(of instant: WallInstant, at now: Now) -> Substring {
        let (time, today) = (WallClock.localMinute(instant.microseconds), WallClock.localMinute(now.wall.microseconds))
        let parts = time.split(separator: " ")
        guard parts.count == 2, today.hasPrefix(parts[0]) else { return time[...] }
        return parts[1]
    }
}

/// The interface to systemd: notifications, watchdog and passed sockets.
struct ServiceManager {
    /// The sockets that systemd passed for listening.
    enum Activation {
        case none
        case socket(Int32)
        /// Sockets were passed, and which of them to serve is not clear; a sentence says what is expected.
        case unusable(String)
    }

    /// The watchdog's interval; nil if there is no watchdog.
    let watchdogInterval: Duration?

    init() {
        var interval: UInt64 = 0
        let isWatched = unsafe sd_watchdog_enabled(0, &interval) > 0 && interval > 0
        watchdogInterval = isWatched ? Duration(microseconds: Int64(clamping: interval)) : nil
    }

    /// Sends a notification, and waits until systemd has room for it. Does nothing if systemd did not start the
    /// process.
    func notify(_ state: String) { unsafe sd_notify(0, state) }

    /// Sends a notification without waiting for room, because systemd may be stopped or busy for any time.
    /// - Returns: whether it was sent, or cannot be sent at all.
    func notifyAtOnce(_ state: String) -> Bool { ServiceNotification.send(state) }

    /// The socket with the name `varlink` (FileDescriptorName= of the socket unit), or the only one that was passed.
    ///
    /// Two sockets are refused and not served in part, because a client of the other one would wait for ever.
    func takeActivation() -> Activation {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return .none }
        defer { unsafe free(names) }
        var named: [(name: String, descriptor: Int32)] = []
        for index in 0..<Int(count) {
            guard let name = unsafe names[index] else { continue }
            defer { unsafe free(name) }
            let descriptor = SD_LISTEN_FDS_START + Int32(index)
            guard sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else { continue }
            named.append((unsafe String(cString: name), descriptor))
        }
        return Self.choose(from: named, of: Int(count))
    }

    private static func choose(from sockets: [(name: String, descriptor: Int32)], of count: Int) -> Activation {
        guard !sockets.isEmpty else {
            return .unusable("none of the \(count) descriptors that were passed is a listening Unix stream socket")
        }
        let varlink = sockets.filter { $0.name == "varlink" }
        let candidates = varlink.isEmpty ? sockets : varlink
        if candidates.count == 1 { return .socket(candidates[0].descriptor) }
        let names = varlink.isEmpty ? " (\(sockets.map(\.name).joined(separator: ", ")))" : " with the name varlink"
        return .unusable(
            "\(candidates.count) listening sockets\(names) were passed, and one with the name varlink is expected, "
                + "or a single one with any name: see ListenStream= and FileDescriptorName= of the socket unit"
        )
    }
}
