import Foundation
import TestSupport
import Testing

@Suite("countdown-notify --test")
struct RehearsalTrials {
    private let scene: Scene

    init() throws { scene = try Scene() }

    private func rehearse(_ arguments: String..., environment: [String: String]) throws -> CommandRun {
        let directory = scene.desktop.directory
        return try RunningCommand(
            ["--test"] + arguments,
            executable: BuiltProduct.path(of: "countdown-notify"),
            environment: [
                "COUNTDOWND_SOCKET": scene.daemon.socketPath, "DBUS_SESSION_BUS_ADDRESS": scene.desktop.address,
                "PATH": directory.path(of: "programs"),
            ].merging(environment) { _, given in given }
        ).finish()
    }

    @Test("shows a notification, rings once, and says how")
    func works() throws {
        let directory = scene.desktop.directory
        let players = try FakePlayers(in: directory, ["pw-play": "exit 0"])
        let run = try rehearse(environment: FakePlayers.theme(in: directory))
        let shown = try scene.server.next()
        #expect(shown.summary == "Countdowns" && shown.body == "The end of a countdown is shown like this.")
        #expect(shown.hints?.suppressSound == true)
        #expect(players.plays.count == 1 && players.plays.first?.hasSuffix("/alarm-clock-elapsed.oga") == true)
        let lines = ["notification: Stand 2.0", "       sound: pw-play", "      daemon: \(scene.daemon.socketPath)"]
        #expect(run.standardOutput.hasPrefix(lines.joined(separator: "\n") + "\n     service: "), "\(run)")
        #expect(run.exitCode == 0)
    }

    @Test("a service that the bus starts for it shows the notification")
    func started() throws {
        let directory = try TemporaryDirectory()
        let pipe = directory.path(of: "pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let services = directory.path(of: "services")
        try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: false)
        let script = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Programs/Desktop/notifications.py")
        try directory.write(
            """
            [D-BUS Service]
            Name=org.freedesktop.Notifications
            Exec=/bin/sh -c "exec /usr/bin/python3 \(script.path) <> \(pipe)"

            """,
            to: "services/notifications.service"
        )
        let desktop = try Desktop(in: directory)
        let notify = try NotifyProcess(of: scene.daemon.socketPath, on: desktop.address, in: directory)
        let status = { (try? String(contentsOfFile: directory.path(of: "state/status"), encoding: .utf8)) ?? "" }
        try waitUntil("its state") { status().contains("\nshown by a service that the bus starts; ") }
        let run = try rehearse("--ring", "no", environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address])
        #expect(run.standardOutput.hasPrefix("notification: Stand 2.0\n"), "\(run)")
        try waitUntil("its state") { status().contains("\nshown by Stand 2.0; ") }
        withExtendedLifetime(notify) {}
    }

    @Test("says what is missing: the service, the player, the sound, the bus and the daemon")
    func missing() throws {
        let theme = try FakePlayers.theme(in: scene.desktop.directory)
        try scene.server.vanish()
        try scene.daemon.kill()
        let run = try rehearse(environment: theme)
        #expect(run.exitCode == 69)
        for line in [
            "notification: failed: no notification service; install one such as dunst or mako\n",
            "sound: failed: no player; install paplay (pulseaudio-utils) or pw-play (pipewire-bin)\n",
            "daemon: failed: no daemon at ",
        ] { #expect(run.standardOutput.contains(line), "\(run.standardOutput)") }
        try scene.desktop.end()
        let bare = try rehearse("--ring", "no", environment: ["XDG_DATA_DIRS": "/nonexistent"])
        #expect(bare.standardOutput.contains("notification: failed: no session bus: "), "\(bare.standardOutput)")
        #expect(bare.standardOutput.contains("sound: failed: ring is no\n"))
        let silent = try rehearse(environment: ["XDG_DATA_DIRS": "/nonexistent"])
        let sentence = "failed: the sound alarm-clock-elapsed is in no sound theme; install sound-theme-freedesktop\n"
        #expect(silent.standardOutput.contains(sentence), "\(silent.standardOutput)")
    }
}
