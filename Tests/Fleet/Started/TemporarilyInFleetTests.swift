import Foundation
import TestSupport
import Testing

@Suite("countdownctl temporarily with the daemon of a fleet")
struct TemporarilyInFleetTests {
    @Test("is refused before anything changes")
    func refuses() throws {
        let fleet = try Fleet(1)
        let home = try TemporaryDirectory()
        let runtime = home.path(of: "run/countdownd")
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: runtime,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try manager.createSymbolicLink(
            atPath: "\(runtime)/io.countdownd",
            withDestinationPath: fleet.daemons[0].socketPath
        )
        let environment = ["HOME": home.path, "XDG_RUNTIME_DIR": home.path(of: "run")]
        let service = try RunningCommand(["undo-service", "--stay"], environment: environment)
        let words = ["temporarily", "c", "1h", "--undo", "true", "--", "touch", home.path(of: "c")]
        let deadline = Deadline()
        var run = try CommandRun(words, environment: environment)
        while run.exitCode == 69, !deadline.hasPassed { run = try CommandRun(words, environment: environment) }
        #expect(run.exitCode == 64 && run.message.contains("the daemon belongs to a fleet"), "\(run.message)")
        #expect(!manager.fileExists(atPath: home.path(of: "c")))
        service.interrupt()
        _ = try service.finish()
    }
}
