import Foundation
import TestSupport
import Testing

private let programs = ["dunst", "Xvfb", "dbus-daemon", "busctl", "import", "polybar", "tmux", "xterm"]
private let isThere = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

@Suite(
    "A desktop as people have it",
    .enabled(if: isThere, "not all of these programs are installed: \(programs)")
)
struct PictureTrials {
    @Test(
        "a terminal, a bar and dunst show the countdowns, of which a picture is taken, and a click starts one again"
    )
    func picture() throws {
        let directory = try TemporaryDirectory()
        let picture = directory.path(of: "picture.png")
        let folder = URL(fileURLWithPath: try BuiltProduct.path(of: "countdown-notify")).deletingLastPathComponent()
        let run = try RunningCommand(
            ["--programs", folder.path, "--output", picture, "--elapsed", "0", "--choose", "Again"],
            executable: BuiltProduct.source("scripts/picture-desktop")
        ).finish(until: Deadline(after: .seconds(300)))
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(run.standardOutput == "eggs: started again, 5 s\n")
        let header = try Data(contentsOf: URL(fileURLWithPath: picture)).prefix(16)
        #expect(header.starts(with: Data("\u{89}PNG\r\n\u{1A}\n".unicodeScalars.map { UInt8($0.value) })))
    }
}
