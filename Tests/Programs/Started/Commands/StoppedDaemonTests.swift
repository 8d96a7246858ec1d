import Foundation
import TestSupport
import Testing

@Suite("countdownctl while the daemon is stopped")
final class StoppedDaemonTests: CommandSuite {
    /// Commands that are answered at once, as against `wait`, `watch`, `attach`, `--queue` and `run --wait`.
    private static let lines = [
        "list", "list @next", "start tea 5m", "start tea 5m --wait", "start tea 5m --attach", "run tea -- echo ran",
        "5m tea", "timer 5m tea --wait", "show tea", "show @last", "is-running tea", "cancel tea", "finish tea",
        "pause tea", "resume tea", "toggle tea", "toggle @next", "adjust tea +1m", "snooze", "snooze tea 5m", "status",
        "wait @next",
    ]

    @Test("each command that does not wait by its nature ends with a sentence after 25 s, all at once")
    func endsWithASentence() throws {
        daemon.process.send(signal: SIGSTOP)
        defer { daemon.process.send(signal: SIGCONT) }
        let commands = try Self.lines.map { try typist.begin($0) }
        for (line, command) in zip(Self.lines, commands) {
            let run = try command.finish()
            #expect(run.exitCode == 69, "\(line)")
            #expect(run.message.contains("the daemon does not answer"), "\(line)")
            #expect(run.standardOutput.isEmpty, "\(line)")
        }
    }
}
