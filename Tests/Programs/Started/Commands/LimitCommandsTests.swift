import IPC
import TestSupport
import Testing

/// Some tests are named after what users of other projects asked for.
@Suite("Limits in countdownctl")
final class LimitCommandsTests: CommandSuite {
    @Test("at most one build at once, and one trailing run for all triggers that come meanwhile (systemd#41599)")
    func trailing() throws {
        let script = #"echo begin >> "$OUT"; read line; echo end >> "$OUT""#
        let words = ["run", "build", "1us", "--trailing", "--", "sh", "-c", script]
        let first = try begin(words)
        try lines(1)
        let second = try begin(words)
        try awaitQueue(1)
        for _ in 0..<5 {
            let other = try typist.type("run build 1us --trailing -- echo wrong")
            #expect(other.exitCode == 0 && other.standardOutput.isEmpty)
            #expect(other.message == "build: another caller runs the command afterwards")
        }
        #expect(lines() == ["begin"])
        first.endInput()
        #expect(try first.finish().exitCode == 0)
        #expect(try lines(3) == ["begin", "end", "begin"])
        second.endInput()
        #expect(try second.finish().exitCode == 0)
        #expect(lines() == ["begin", "end", "begin", "end"])
    }

    @Test("of three watches with one name, one runs the command for an end, and of another name, one too")
    func claims() throws {
        let script = #"echo "$COUNTDOWN_KEY" >> "$OUT""#
        let words = ["watch", "-q", "--tick", "0", "--on", "finished", "--shell", "--exec", script]
        let watches = try ["mail", "mail", "mail", "log"].map { try begin(words + ["--claim", $0]) }
        try typist.awaitWatchers(4)
        let keys = (0..<10).map { "key/\($0)" }
        try end(keys)
        let caller = try Caller(of: daemon)
        func claimed() throws -> [String] { try caller.call(List()).countdowns.map(\.key) }
        try waitUntil("each end is claimed twice") { try claimed().count == 20 }
        #expect(try lines(20).sorted() == (keys + keys).sorted())
        for watch in watches { watch.interrupt() }
        for watch in watches { _ = try watch.finish() }
        #expect(lines().count == 20)
        #expect(try claimed().allSatisfy { $0.hasPrefix("claim/mail/") || $0.hasPrefix("claim/log/") })
    }
}
