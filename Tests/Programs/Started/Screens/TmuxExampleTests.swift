import Foundation
import TestSupport
import Testing

@Suite("The example for tmux")
final class TmuxExampleTests: TerminalSuite {
    @Test("the status line shows the countdown that ends first as it is, and keys toggle and snooze")
    func status() throws {
        try run("timer", "1h", "Gr#[fg=red]een tea")
        let settings = BuiltProduct.source("examples/prompt/tmux.conf")
        let folder = try TemporaryDirectory()
        let line = "tmux -S '\(folder.path(of: "inner"))' -f '\(settings)' new-session cat"
        let terminal = try terminal(line)
        defer {
            let words = ["-S", folder.path(of: "inner"), "kill-server"]
            _ = try? RunningCommand(words, executable: "/usr/bin/tmux").finish()
        }
        try terminal.wait(for: "the status line") { $0.contains(#/Gr\[fg=red\]een tea (59:|1:00:00)/#) }
        try terminal.type("\u{2}T")
        let deadline = ContinuousClock.now + .seconds(60)
        while try !run("show", "@next").standardOutput.contains("paused"), ContinuousClock.now < deadline {}
        try run("finish", "@next")
        try terminal.type("\u{2}S")
        try terminal.wait(for: "the snoozed countdown") { $0.contains(#/een tea [45]:/#) }
    }
}
