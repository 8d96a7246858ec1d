import Glibc
import IPC
import TestSupport
import Testing
import Varlink

/// The daemon, the bus and the notification service go away and come back.
@Suite("A desktop with faults")
struct DesktopFaultTrials {
    private let daemon: DaemonProcess
    private let directory: TemporaryDirectory

    init() throws {
        daemon = try DaemonProcess()
        directory = try TemporaryDirectory()
    }

    private func notify(until status: String = "everything is shown") throws -> NotifyProcess {
        try NotifyProcess(of: daemon.socketPath, on: Desktop.address(in: directory), in: directory, until: status)
    }

    private func end(_ key: String) throws {
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: key, durationUSec: .seconds(3600)))
        _ = try caller.call(Finish(key: key))
    }

    @Test("a missing notification service is waited for, and countdowns keep running")
    func nobody() throws {
        let desktop = try Desktop(in: directory)
        let notify = try notify()
        try end("tea")
        try notify.awaitStatus("no notification service; waiting: 1")
        let server = try NotificationServer(on: desktop)
        #expect(try server.next().summary == "tea")
        try notify.awaitStatus("everything is shown")
        try end("egg")
        #expect(try server.next().summary == "egg")
    }

    @Test("ends that a silent service did not answer are shown by the next service")
    func silent() throws {
        let silent = try NotificationServer(in: directory, "--silent")
        let notify = try notify()
        try end("tea")
        #expect(try silent.next().summary == "tea")
        try end("egg")
        try notify.awaitStatus("showing ends; waiting: 2")
        try silent.vanish()
        let server = try NotificationServer(on: silent.desktop)
        #expect(try [server.next(), server.next()].map(\.summary) == ["tea", "egg"])
    }

    @Test("a notification that was refused is sent again")
    func refusing() throws {
        let server = try NotificationServer(in: directory, "--refuse", "2")
        let notify = try notify()
        try end("tea")
        #expect(try server.next("refused").summary == "tea")
        #expect(try server.next("refused").summary == "tea")
        #expect(try server.next().summary == "tea")
        withExtendedLifetime(notify) {}
    }

    @Test("a missing bus is waited for, also a second time")
    func noBus() throws {
        let notify = try notify(until: "no session bus")
        try end("tea")
        for key in ["tea", "egg"] {
            let server = try NotificationServer(in: directory)
            #expect(try server.next().summary == key)
            try notify.awaitStatus("everything is shown")
            if key == "tea" {
                try server.desktop.end()
                try notify.awaitStatus("no session bus")
                try end("egg")
            }
        }
    }

    @Test("SIGTERM ends it though the session bus does not answer")
    func silentBus() throws {
        let listener = try ListeningSocket(path: directory.path(of: "bus"))
        let notify = try notify()
        notify.process.send(signal: SIGTERM)
        // sd-bus gives up after 90 s.
        #expect(try notify.process.wait(until: Deadline(after: .seconds(60))) == .exited(code: 0))
        withExtendedLifetime(listener) {}
    }

    @Test("if the daemon is killed and started again, no end is missed and none is shown twice")
    func daemonRestarts() throws {
        let server = try NotificationServer(in: directory)
        let notify = try notify()
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 3_600_000_000))
        _ = try caller.call(Start(key: "egg", durationUSec: 3_600_000_000))
        try end("call")
        #expect(try server.next().summary == "call")
        // It ends while the daemon is away, or just before.
        _ = try caller.call(Adjust(key: "tea", byUSec: -3_599_900_000))
        try daemon.kill()
        let second = try DaemonProcess(in: daemon.directory)
        #expect(try server.next().summary == "tea")
        _ = try Caller(of: second).call(Finish(key: "egg"))
        #expect(try server.next().summary == "egg")
        withExtendedLifetime(notify) {}
    }

    @Test("a daemon that cannot open its store for a while is waited for, and no end counts as missed")
    func storeOpensLate() throws {
        let server = try NotificationServer(in: directory)
        var notify = try notify()
        try end("call")
        #expect(try server.next().summary == "call")
        _ = try Caller(of: daemon).call(Start(key: "tea", durationUSec: 100_000))
        try daemon.kill()
        let (state, away) = (daemon.stateDirectory, daemon.directory.path(of: "away"))
        unsafe rename(state, away)
        unsafe symlink(daemon.directory.path(of: "disk"), state)
        let second = try DaemonProcess(in: daemon.directory)
        try notify.awaitStatus("the daemon cannot use its store")
        // One that starts meanwhile waits, too.
        try notify.terminate()
        notify = try self.notify(until: "the daemon cannot use its store")
        unsafe rename(away, daemon.directory.path(of: "disk"))
        // Nothing came before it.
        #expect(try server.next().summary == "tea")
        try end("egg")
        #expect(try server.next().summary == "egg")
        withExtendedLifetime(second) {}
    }

    @Test("a warning that is due while the daemon starts again is shown")
    func warningDuringRestart() throws {
        let server = try NotificationServer(in: directory)
        let notify = try notify()
        let metadata: TextMap<String> = ["warn": "1h", "ring": "no"]
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 3_603_000_000, metadata: metadata))
        // The reply to a later call shows that the start was reported.
        _ = try caller.call(Get(key: "tea"))
        try daemon.kill()
        unsafe unlink(daemon.socketPath)
        // A service manager accepts connections before the daemon answers.
        let listener = try ListeningSocket(path: daemon.socketPath)
        let connection = try listener.accept()
        #expect(try server.next().body == "Ends in 1 h")
        withExtendedLifetime((notify, connection)) {}
    }

    @Test("a missing daemon is waited for")
    func noDaemon() throws {
        let server = try NotificationServer(in: directory)
        try daemon.kill()
        let notify = try notify(until: "no daemon at ")
        let second = try DaemonProcess(in: daemon.directory)
        try notify.awaitStatus("everything is shown")
        try end("tea")
        #expect(try server.next().summary == "tea")
        withExtendedLifetime(second) {}
    }

    @Test("a second instance with the same state directory fails and says what it needs")
    func second() throws {
        let server = try NotificationServer(in: directory)
        let first = try notify()
        let path = directory.path(of: "state")
        let run = try RunningCommand(
            ["--state-directory", path],
            executable: BuiltProduct.path(of: "countdown-notify"),
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
        ).finish()
        #expect(run.exitCode == 69)
        #expect(run.standardError.contains(" uses \(path); a second one needs its own --state-directory"))
        withExtendedLifetime((server, first)) {}
    }

    @Test("a call that the daemon always refuses ends the program with a sentence and an exit code")
    func refused() throws {
        func run(_ arguments: String..., remembering directory: String = "other") throws -> CommandRun {
            try RunningCommand(
                arguments + ["--state-directory", self.directory.path(of: directory)],
                executable: BuiltProduct.path(of: "countdown-notify"),
                environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
            ).finish()
        }
        let pattern = try run("a[")
        #expect(pattern.exitCode == 64)
        #expect(pattern.standardError.contains("a pattern has 1 to 255 bytes, and a ] after each ["))
        try directory.write("", to: "file")
        let place = try run(remembering: "file/a")
        #expect(place.exitCode == 73)
        #expect(place.standardError.contains("Not a directory; choose another --state-directory"))
        let help = try run("--help")
        #expect(help.exitCode == 0 && help.standardOutput.contains("Usage: countdown-notify"))
        #expect(try run("--version").standardOutput == "countdown-notify \(Version.current)\n")
    }
}
