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
    private let session: Session

    init() throws {
        session = try Session(of: .paul)
    }

    /// Begins to show notifications, and then has the desktop be there.
    private func desktop() throws -> RunningCommand {
        try session.systemctl("start", "dbus.socket")
        let line = "sleep infinity | /usr/bin/python3 ~/notifications.py"
        let shower = try session.machine.begin(as: session.user, ["sh", "-c", line])
        #expect(try shower.line() == #"{"member": "ready"}"#)
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
    private func room() throws -> (RunningCommand, RunningCommand) {
        let (machine, user) = (session.machine, session.user)
        let modules = ["--load=module-null-sink sink_name=room", "--load=module-native-protocol-unix"]
        let options = ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1"]
        let server = try machine.begin(as: user, ["pulseaudio"] + options + modules)
        try waitUntil("PulseAudio to answer") {
            try machine.run(as: user, ["pactl", "info"]).exitCode == 0
        }
        return (server, try machine.begin(as: user, ["parec", "--device=room.monitor", "--raw"]))
    }

    private func end(_ key: String) throws {
        try session.countdownctl("start \(key) 1h")
        try session.countdownctl("finish \(key)")
    }

    @Test(
        "the service starts with the desktop, and rings in its sandbox; ends after the logout come at the next login"
    )
    func comesAndGoes() throws {
        let stand = BuiltProduct.packageDirectory.appendingPathComponent(
            "Tests/NotifyTrials/Desktop/notifications.py"
        )
        let (machine, user) = (session.machine, session.user)
        let script = try String(contentsOf: stand, encoding: .utf8)
        try machine.tell(user, "sh", "-c", "cat > ~/notifications.py", input: script)
        let unit = "[Unit]\nBindsTo=graphical-session.target\n"
        let folder = "~/.config/systemd/user"
        try machine.tell(user, "sh", "-c", "mkdir -p \(folder); cat > \(folder)/desktop.target", input: unit)
        try session.systemctl("daemon-reload")
        try session.systemctl("enable", "--quiet", "countdown-notify.service")

        let (server, recording) = try room()
        let first = try desktop()
        try end("egg")
        #expect(try summary(first) == "egg")
        // Silence has no bytes but 0; sooner or later the alarm has one that is a newline.
        #expect(try recording.line() != nil)
        server.process.send(signal: SIGTERM)
        let process = try session.systemctl("show", "--value", "--property=MainPID", "countdown-notify.service")
        let status = try machine.tell(.root, "cat", "/proc/\(process)/status")
        for line in ["CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] { #expect(status.contains(line)) }

        try session.countdownctl("start call 4s")
        try session.logOut()
        // If a countdown of the same duration, started later, has ended, the call's time has come too.
        try Session(of: .quinn).countdownctl("start clock 4s --wait")
        try session.logIn()
        let second = try desktop()
        #expect(try summary(second) == "call")
        try end("last")
        #expect(try summary(second) == "last")
    }
}
