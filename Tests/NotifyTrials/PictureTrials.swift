import Foundation
import TestSupport
import Testing

private let isThere = ["dunst", "Xvfb", "dbus-daemon", "busctl", "import"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
}

@Suite(
    "A desktop as people have it",
    .enabled(if: isThere, "dunst, Xvfb, dbus-daemon, busctl or ImageMagick is not installed")
)
struct PictureTrials {
    @Test(
        "dunst shows an ending and a progress, of which a picture is taken, and starts the countdown again on a click"
    )
    func picture() throws {
        let directory = try TemporaryDirectory()
        let picture = directory.path(of: "picture.png")
        let programs = URL(fileURLWithPath: try BuiltProduct.path(of: "countdown-notify")).deletingLastPathComponent()
        let run = try RunningCommand(
            ["--programs", programs.path, "--output", picture, "--choose", "Again"],
            executable: BuiltProduct.packageDirectory.appendingPathComponent("scripts/picture-notifications").path
        ).finish(until: Deadline(after: .seconds(300)))
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(run.standardOutput == "tea: started again, 5 s\n")
        let header = try Data(contentsOf: URL(fileURLWithPath: picture)).prefix(16)
        #expect(header.starts(with: Data("\u{89}PNG\r\n\u{1A}\n".unicodeScalars.map { UInt8($0.value) })))
    }
}
