import Foundation
import TestSupport
import Testing

@testable import countdown_notify

@Suite("The sound theme")
final class SoundThemeTests: DirectorySuite {
    private func add(_ name: String, below folder: String) throws -> String {
        let path = directory.path(of: "\(folder)/sounds/freedesktop/stereo")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return try directory.write("", to: "\(folder)/sounds/freedesktop/stereo/\(name)")
    }

    private func find(_ variables: [String: String]) -> SoundTheme.Finding {
        SoundTheme { variables[$0] }.find(.alarm)
    }

    @Test("the user's folder comes before the system's, and these in their order")
    func order() throws {
        let variables = [
            "XDG_DATA_HOME": directory.path(of: "home"),
            "XDG_DATA_DIRS": "relative:\(directory.path(of: "a")):\(directory.path(of: "b"))",
        ]
        #expect(find(variables) == .missing)
        for folder in ["b", "a", "home"] {
            let path = try add("alarm-clock-elapsed.oga", below: folder)
            #expect(find(variables) == .file(path))
        }
    }

    @Test("without XDG_DATA_HOME the user's folder is ~/.local/share")
    func home() throws {
        let path = try add("alarm-clock-elapsed.wav", below: ".local/share")
        #expect(find(["HOME": directory.path, "XDG_DATA_DIRS": "/nonexistent"]) == .file(path))
    }

    @Test("a sound can be disabled")
    func disabled() throws {
        _ = try add("alarm-clock-elapsed.oga", below: "a")
        _ = try add("alarm-clock-elapsed.disabled", below: "a")
        #expect(find(["XDG_DATA_DIRS": directory.path(of: "a")]) == .disabled)
    }
}

@Suite("The player of sounds")
struct SoundPlayerTests {
    @Test("a player that hangs is ended, and counts as one that fails")
    func hangs() throws {
        let program = SoundPlayer.Program(name: "/bin/sh", arguments: ["-c", "exec /bin/sleep 600"])
        let player = SoundPlayer(alarm: "alarm.oga", programs: [program], limitUSec: 1)
        player.begin(.alarm)
        var outcome: SoundPlayer.Outcome?
        try waitUntil("the player to be ended") {
            outcome = player.advance()
            return outcome != nil
        }
        #expect(outcome == .failed(.alarm, "/bin/sh: it takes longer than 0 s"))
        #expect(!player.isPlaying)
    }
}
