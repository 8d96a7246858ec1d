import Foundation
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Notifications to the service manager, and its signals")
struct ServiceManagerTests {
    @Test("READY comes first; the status has the number of running countdowns and the time of the next end, and no key")
    func status() throws {
        let daemon = try DaemonProcess(environment: ["TZ": "UTC"])
        #expect(daemon.notifications.received.prefix(2) == ["READY=1", "STATUS=0 running"])
        let caller = try Caller(of: daemon)
        let now = try caller.call(Start(key: "paused")).countdown.startedUSec
        _ = try caller.call(Pause(key: "paused"))
        // The noon after the next, so that the day is never today's.
        let noon = (now / .seconds(86_400) + 2) * .seconds(86_400) + .seconds(43_200)
        _ = try caller.call(Start(key: "+8613800138000", deadlineUSec: noon))
        _ = try caller.call(Start(key: "later", deadlineUSec: noon + .seconds(60)))
        #expect(try daemon.notification("STATUS=") == "STATUS=0 running")
        // It goes with a turn, a second after the one before at the earliest: ticks make turns.
        let follower = try Follower(of: daemon, Watch(tick: .milliseconds(20)))
        try follower.events(through: .synced)
        let formatter = DateFormatter()
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let date = formatter.string(from: Date(timeIntervalSince1970: Double(noon / 1_000_000)))
        #expect(try daemon.notification("STATUS=") == "STATUS=2 running, next \(date)")
    }

    @Test("with WATCHDOG_USEC, the watchdog is fed again and again, also while nothing happens")
    func watchdog() throws {
        let daemon = try DaemonProcess(environment: ["WATCHDOG_USEC": "100000"])
        for _ in 0..<5 { try daemon.notification("WATCHDOG=1") }
    }

    @Test(
        "without a watchdog, none is fed, and neither is the one of another process",
        arguments: [[:], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"]]
    )
    func noWatchdog(_ environment: [String: String]) throws {
        let daemon = try DaemonProcess(environment: environment)
        _ = try Caller(of: daemon).call(Start(key: "tea", durationUSec: .milliseconds(150)))
        _ = try Caller(of: daemon).call(Wait(key: "tea"))
        daemon.process.send(signal: SIGTERM)
        try daemon.notification("STOPPING=1")
        #expect(!daemon.notifications.received.contains("WATCHDOG=1"))
    }

    /// Waits for the end of a countdown, which is a turn a second after the last status: another is due then.
    private func letStatusBeDue(_ key: String, _ caller: Caller) throws {
        _ = try caller.call(Start(key: key, durationUSec: .milliseconds(1_100)))
        _ = try caller.call(Wait(key: key))
    }

    @Test("a service manager that does not read is not waited for, and gets the status when it reads")
    func busyManager() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        try daemon.notifications.fill()
        for key in ["tea", "coffee"] { try letStatusBeDue(key, caller) }
        _ = try caller.call(Start(key: "egg"))
        try daemon.notification("X=1")
        try daemon.notification("STATUS=1 running")
    }

    @Test("a service manager that does not read gets the watchdog's message when it reads")
    func busyWatchdog() throws {
        let daemon = try DaemonProcess(environment: ["WATCHDOG_USEC": "100000"])
        let caller = try Caller(of: daemon)
        try daemon.notifications.fill()
        for key in ["tea", "coffee"] { try letStatusBeDue(key, caller) }
        try daemon.notification("X=1")
        try daemon.notification("WATCHDOG=1")
        #expect(try daemon.terminate() == .exited(code: 0))
    }

    @Test("without a service manager it runs as well")
    func noManager() throws {
        let daemon = try DaemonProcess(environment: ["WATCHDOG_USEC": "no number"])
        _ = try Caller(of: daemon).call(GetStatus())
    }

    @Test(
        "SIGTERM and SIGINT stop it, also if it has much to do: that is told, it exits with 0, and its socket is gone",
        arguments: [SIGTERM, SIGINT]
    )
    func stops(_ signal: Int32) throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        let waiting = try Follower(of: daemon, Watch(tick: .zero))
        try waiting.events(through: .synced)
        _ = try caller.call(Start(key: "tea"))
        for _ in 0..<5_000 { try caller.send(Start(key: "tea", ifRunning: .restart), oneway: true) }
        daemon.process.send(signal: signal)
        try daemon.notification("STOPPING=1")
        #expect(try daemon.process.wait() == .exited(code: 0))
        #expect(!FileManager.default.fileExists(atPath: daemon.socketPath))
        #expect(try caller.connection.nextMessage() == nil)
    }

    @Test("SIGHUP and SIGPIPE are ignored", arguments: [SIGHUP, SIGPIPE])
    func ignores(_ signal: Int32) throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        let tea = try caller.call(Start(key: "tea")).countdown
        daemon.process.send(signal: signal)
        #expect(try caller.call(Get(key: "tea")).countdown.revision == tea.revision)
        daemon.process.send(signal: SIGTERM)
        try daemon.notification("STOPPING=1")
        #expect(try daemon.process.wait() == .exited(code: 0))
    }
}
