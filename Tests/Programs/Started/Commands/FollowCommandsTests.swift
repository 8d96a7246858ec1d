import TestSupport
import Testing

@Suite("countdownctl watch, attach and wait")
final class FollowCommandsTests: CommandSuite {
    @Test("watch --json prints an object per line, and resumes at a revision with --since")
    func watchesObjects() throws {
        try prepare("start tea 5ms --wait", "start coffee 5ms --wait")
        let watch = try typist.begin("watch --json --since \(try #require(try shown("revision", of: "tea")))")
        let end = try #require(try watch.line())
        #expect(try member("type", of: end) == "finished" && member("key", of: end) == "coffee")
        #expect(try watch.line().map { try member("type", of: $0) } == "synced")
        #expect(try watch.stop().exitCode == 130)
    }

    @Test("if a shell has it ignore Ctrl-C, as with &, it continues")
    func ignoresWhatIsIgnored() throws {
        try prepare("start tea 1h")
        let waiting = try RunningCommand(
            ["-c", "trap '' INT; exec '\(BuiltProduct.path(of: "countdownctl"))' wait tea"],
            executable: "/bin/sh",
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
        )
        try typist.awaitWatchers(1)
        waiting.interrupt()
        try prepare("cancel tea")
        #expect(try waiting.finish().exitCode == 3)
    }
}
