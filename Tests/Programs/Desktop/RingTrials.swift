import Foundation
import IPC
import System
import TestSupport
import Testing
import Varlink

@Suite("Ends that ring")
struct RingTrials {
    private let scene: Scene
    private let theme: [String: String]

    init() throws {
        scene = try Scene()
        theme = try FakePlayers.theme(in: scene.desktop.directory)
    }

    private func players(_ lines: [String: String]) throws -> FakePlayers {
        try FakePlayers(in: scene.desktop.directory, lines)
    }

    @Test(
        "the alarm of the sound theme is heard in the room, and ends with a click on Dismiss",
        .enabled(if: SoundServer.isInstalled, "PulseAudio is not installed")
    )
    func heard() throws {
        let server = try SoundServer(in: scene.desktop.directory)
        let notify = try scene.notify(environment: server.environment)
        #expect(try server.streams() == 0)
        try scene.end("tea")
        try server.awaitSound()
        let shown = try scene.server.next()
        #expect(shown.hints?.suppressSound == true && shown.timeout == 0)
        try waitUntil("the stream to be listed") { try server.streams() == 1 }
        try scene.server.choose("default", of: shown.id)
        try waitUntil("silence") { try server.streams() == 0 }
        #expect(!notify.standardError.contains("no sound"))
    }

    @Test("it is played again until the limit, by the first player that can")
    func repeats() throws {
        let players = try players(["paplay": "exit 1", "canberra-gtk-play": "exit 0"])
        let notify = try scene.notify("--ring-times", "2", environment: theme)
        try scene.end("tea")
        let plays = try players.awaitPlays(3)
        let names = plays.map { String($0.prefix { $0 != " " }) }
        #expect(names == ["paplay", "canberra-gtk-play", "canberra-gtk-play"])
        #expect(plays.last?.hasSuffix("/stereo/alarm-clock-elapsed.oga") == true)
        _ = try scene.server.next()
        // Another end is one more sound.
        try scene.end("egg", metadata: ["ring": "once"])
        let more = try players.awaitPlays(4)
        #expect(more.count == 4)
        #expect(!notify.standardError.contains("no sound"))
    }

    @Test("a click, closing the notification or another start ends the sound at once; a timeout does not")
    func answers() throws {
        let players = try players(["paplay": "exec /bin/sleep 600"])
        let notify = try scene.notify(environment: theme)
        for (number, answer) in zip(1..., ["default", "again", "close", "start"]) {
            try scene.call(Start(key: "tea", durationUSec: 3_600_000_000, ifRunning: .restart))
            try scene.call(Finish(key: "tea"))
            let play = try players.awaitPlays(number)[number - 1]
            let shown = try scene.server.next()
            switch answer {
            case "close":
                try scene.server.close(shown.id, reason: 1)
                // The answer to another call shows that the signal before it was received.
                try scene.call(Start(key: "egg", durationUSec: 1_000, metadata: ["ring": "no"]))
                let egg = try scene.server.next()
                #expect(egg.summary == "egg")
                #expect(FileManager.default.fileExists(atPath: "/proc/\(play.split(separator: " ")[1])"))
                try scene.call(Start(key: "tea"))
            case "start": try scene.start("tea")
            default: try scene.server.choose(answer, of: shown.id)
            }
            try players.awaitEnd(of: play)
            // The socket of the service manager has room for ten states.
            try notify.awaitStatus("everything is shown")
            if answer == "again" {
                try waitUntil("tea to run") { try scene.call(Get(key: "tea")).countdown.state == .running }
            }
        }
    }

    @Test("closing the notification ends the sound")
    func closed() throws {
        let players = try players(["paplay": "exec /bin/sleep 600"])
        try scene.notify(environment: theme)
        try scene.end("tea")
        let play = try players.awaitPlays(1)[0]
        try scene.server.close(try scene.server.next().id)
        try players.awaitEnd(of: play)
    }

    @Test("an end does not ring again after countdown-notify was killed")
    func restart() throws {
        let players = try players(["paplay": "exec /bin/sleep 600"])
        let first = try scene.notify(environment: theme)
        try scene.end("tea")
        let play = try players.awaitPlays(1)[0]
        try first.kill()
        kill(try #require(pid_t(play.split(separator: " ")[1])), SIGKILL)
        let second = try scene.notify(environment: theme)
        try scene.end("egg", metadata: ["ring": "no"])
        var shown = try scene.server.next().summary
        while shown != "egg" { shown = try scene.server.next().summary }
        #expect(players.plays.count == 1)
        try second.terminate()
    }

    @Test("it rings, too, if no notification service is there")
    func noService() throws {
        try scene.server.vanish()
        let players = try players(["paplay": "exit 0"])
        let notify = try scene.notify("--ring", "once", environment: theme)
        try scene.end("tea")
        try players.awaitPlays(1)
        try notify.awaitStatus("no notification service; waiting: 1")
    }

    @Test("without a player that can, the ends are shown, and the reason is logged once")
    func noPlayer() throws {
        let players = try players(["pw-play": "exit 3"])
        let notify = try scene.notify(environment: theme)
        for (number, key) in zip(1..., ["tea", "egg"]) {
            try scene.end(key)
            #expect(try scene.server.next().summary == key)
            try players.awaitPlays(number)
            try waitUntil("the reason to be logged") { notify.standardError.contains("no sound") }
        }
        // When the next one is shown, the second failure was seen.
        try scene.end("rice", metadata: ["ring": "no"])
        _ = try scene.server.next()
        let reason = "no sound: pw-play: exit code 3"
        #expect(notify.standardError.components(separatedBy: "\(reason)\n").count == 2)
        try notify.awaitStatus("everything is shown; \(reason)")
    }

    @Test("the status says from the start why nothing can ring, and other programs can read it until the end")
    func silent() throws {
        let player = "no sound: no player; install paplay (pulseaudio-utils) or pw-play (pipewire-bin)"
        let first = try scene.notify(until: "everything is shown; \(player)", environment: theme)
        let directory = scene.desktop.directory
        try FileManager.default.createSymbolicLink(
            atPath: directory.path(of: "countdown-notify"),
            withDestinationPath: "state"
        )
        func state() -> String? { NotifierStatus { $0 == "XDG_STATE_HOME" ? directory.path : nil }.state }
        try waitUntil("its state") { state() == "shown by Stand 2.0; \(player)" }
        try first.kill()
        #expect(state() == nil)
        let second = try scene.notify("--ring", "no")
        try waitUntil("its state") { state() == "shown by Stand 2.0; silent (ring no)" }
        try scene.server.vanish()
        try waitUntil("its state") { state() == "no notification service; silent (ring no)" }
        try second.terminate()
        #expect(state() == nil)
    }

    @Test("a file that is given is played instead, and a missing one is named at the start")
    func file() throws {
        let players = try players(["paplay": "exit 0"])
        let path = try scene.desktop.directory.write("", to: "gong.wav")
        try scene.notify("--sound", path, "--ring", "once", environment: theme)
        try scene.end("tea")
        #expect(try players.awaitPlays(1)[0].hasSuffix(" \(path)"))
        let run = try RunningCommand(
            ["--sound", "\(path).missing"],
            executable: BuiltProduct.path(of: "countdown-notify")
        ).finish()
        #expect(run.exitCode == 66)
        #expect(run.standardError == "countdown-notify: --sound \(path).missing: No such file or directory\n")
    }

    @Test("a warning comes before the end with a sound of its own, and is closed at the end")
    func warning() throws {
        let players = try players(["paplay": "exit 0"])
        try scene.notify("--ring", "once", "--warn", "1h", environment: theme)
        try scene.call(Start(key: "tea", durationUSec: 3_600_500_000))
        let warning = try scene.server.next()
        #expect(warning.summary == "tea" && warning.body == "Ends in 1 h")
        #expect(warning.hints?.category == "x-countdownd.warning")
        #expect(try players.awaitPlays(1)[0].hasSuffix("/dialog-warning.oga"))
        try scene.call(Finish(key: "tea"))
        #expect(try scene.server.next("CloseNotification").id == warning.id)
        #expect(try players.awaitPlays(2)[1].hasSuffix("/alarm-clock-elapsed.oga"))
    }

    @Test("an end rings though the sound of a warning before it fails")
    func failedWarning() throws {
        let pipe = scene.desktop.directory.path(of: "pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let release = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(release) }
        let players = try players([
            "paplay": "case $3 in *warning*) read line < \(pipe); exit 1 ;; esac"
        ])
        try scene.notify("--ring", "once", "--warn", "1h", environment: theme)
        try scene.call(Start(key: "tea", durationUSec: 3_600_500_000))
        _ = try scene.server.next()
        try players.awaitPlays(1)
        try scene.call(Finish(key: "tea"))
        #expect(try scene.server.next().summary == "tea")
        #expect(unsafe write(release, "\n", 1) == 1)
        #expect(try players.awaitPlays(2)[1].hasSuffix("/alarm-clock-elapsed.oga"))
    }

    @Test("metadata chooses the warning, and metadata that is not valid is logged once without the key")
    func metadata() throws {
        let notify = try scene.notify("--ring", "no", "--critical", "t*")
        for _ in 0..<2 {
            try scene.end("tea", metadata: ["warn": "soon"])
            #expect(try scene.server.next().hints?.urgency == 2)
        }
        try scene.call(Start(key: "egg", durationUSec: 3_600_200_000, metadata: ["warn": "1h"]))
        #expect(try scene.server.next().body == "Ends in 1 h")
        let sentence = "metadata warn=soon is ignored: use a duration such as 30s, or no\n"
        #expect(notify.standardError.components(separatedBy: sentence).count == 2)
        #expect(!notify.standardError.contains("tea"))
    }
}
