import Foundation
import TestSupport
import Testing

private let hasBus = FileManager.default.fileExists(atPath: "/usr/lib/systemd/user/dbus.socket")
private let hasSound = ["pulseaudio", "paplay", "pactl", "parec"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
}

@Suite(
    "Notifications in a session with a desktop",
    .onMachine,
    .enabled(if: hasBus, "there is no dbus-user-session"),
    .enabled(if: hasSound, "there is no PulseAudio")
)
struct DesktopTests {
    /// The script of the autostart entry.
    private static let script = "/usr/local/libexec/countdownd/session"

    /// A session of a user whose home has a notification service.
    private func session(of user: User) throws -> Session {
        let session = try Session(of: user)
        let script = try BuiltProduct.text(of: "Tests/Programs/Desktop/notifications.py")
        try session.machine.tell(user, "sh", "-c", "cat > ~/notifications.py", input: script)
        return session
    }

    /// Begins to show notifications.
    private func shower(_ session: Session) throws -> RunningCommand {
        try session.systemctl("start", "dbus.socket")
        let line = "sleep infinity | /usr/bin/python3 ~/notifications.py"
        let shower = try session.machine.begin(as: session.user, ["sh", "-c", line])
        #expect(try shower.line() == #"{"member": "ready"}"#)
        return shower
    }

    /// Begins to show notifications, and then has the desktop be there.
    private func desktop(_ session: Session) throws -> RunningCommand {
        let shower = try shower(session)
        try session.systemctl("start", "desktop.target")
        return shower
    }

    /// The summary of the next notification.
    private func summary(_ shower: RunningCommand) throws -> String {
        while let line = try shower.line() {
            if let found = line.firstMatch(of: /"Notify".*"summary": "([^"]*)"/) { return String(found.1) }
        }
        return "nothing more"
    }

    /// Starts a sound server whose one sink is a room without ears.
    ///
    /// - Returns: the server, and a recording of the room.
    private func room(_ session: Session) throws -> (RunningCommand, RunningCommand) {
        let (machine, user) = (session.machine, session.user)
        let modules = ["--load=module-null-sink sink_name=room", "--load=module-native-protocol-unix"]
        let options = ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1"]
        let server = try machine.begin(as: user, ["pulseaudio"] + options + modules)
        try waitUntil("PulseAudio to answer") {
            try machine.run(as: user, ["pactl", "info"]).exitCode == 0
        }
        return (server, try machine.begin(as: user, ["parec", "--device=room.monitor", "--raw"]))
    }

    private func end(_ key: String, _ session: Session) throws {
        try session.countdownctl("start \(key) 1h")
        try session.countdownctl("finish \(key)")
    }

    @Test(
        "the service starts with the desktop, and rings in its sandbox; ends after the logout come at the next login"
    )
    func comesAndGoes() throws {
        let session = try session(of: .paul)
        let (machine, user) = (session.machine, session.user)
        let unit = "[Unit]\nBindsTo=graphical-session.target\n"
        let folder = "~/.config/systemd/user"
        try machine.tell(user, "sh", "-c", "mkdir -p \(folder); cat > \(folder)/desktop.target", input: unit)
        try session.systemctl("daemon-reload")
        try session.systemctl("enable", "--quiet", "countdown-notify.service")

        let (server, recording) = try room(session)
        let first = try desktop(session)
        try end("egg", session)
        #expect(try summary(first) == "egg")
        // Silence has no bytes but 0; sooner or later the alarm has one that is a newline.
        #expect(try recording.line() != nil)
        server.process.send(signal: SIGTERM)
        let process = try session.systemctl("show", "--value", "--property=MainPID", "countdown-notify.service")
        let status = try machine.tell(.root, "cat", "/proc/\(process)/status")
        // If the target has started the service, the autostart entry changes nothing.
        try machine.shell(user, Self.script)
        #expect(
            try session.systemctl("show", "--value", "--property=MainPID", "countdown-notify.service") == process
        )
        for line in ["CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] { #expect(status.contains(line)) }

        try session.countdownctl("start call 4s")
        try session.logOut()
        // If a countdown of the same duration, started later, has ended, the call's time has come too.
        try Session(of: .quinn).countdownctl("start clock 4s --wait")
        try session.logIn()
        let second = try desktop(session)
        #expect(try summary(second) == "call")
        try end("last", session)
        #expect(try summary(second) == "last")
    }

    @Test(
        "where no desktop starts graphical-session.target, the autostart entry starts the service if it is enabled, once"
    )
    func autostart() throws {
        let session = try session(of: .rosa)
        func state() throws -> String {
            try session.systemctl("show", "--value", "--property=ActiveState", "countdown-notify.service")
        }
        func notifier() throws -> String {
            let lines = try session.machine.shell(session.user, "DISPLAY=:7 countdownctl status").split(separator: "\n")
            return lines.first { $0.hasPrefix("  Notifier: ") }.map(String.init) ?? "no line in \(lines)"
        }
        try session.machine.shell(session.user, Self.script)
        #expect(try state() == "inactive")
        #expect(try notifier().hasSuffix(": `systemctl --user enable --now countdown-notify`"))
        try session.systemctl("enable", "--quiet", "countdown-notify.service")
        #expect(
            try notifier().hasSuffix("not running, so ends are not shown: `systemctl --user start countdown-notify`")
        )
        for key in ["egg", "tea"] {
            let shower = try shower(session)
            for _ in 1...2 { try session.machine.shell(session.user, Self.script) }
            try waitUntil("the service to be ready") { try state() == "active" }
            try end(key, session)
            #expect(try summary(shower) == key)
            try waitUntil("its state") { try notifier().hasPrefix("  Notifier: shown by Stand 2.0; ") }
            let target = ["show", "--value", "--property=ActiveState", "graphical-session.target"]
            #expect(try session.systemctl(target.joined(separator: " ")) == "inactive")
            try session.logOut()
            try session.logIn()
        }
    }
}
