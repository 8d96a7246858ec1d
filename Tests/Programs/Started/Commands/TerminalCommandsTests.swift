import Foundation
import TestSupport
import Testing

@Suite("countdownctl on a terminal")
final class TerminalCommandsTests: CommandSuite {
    private func onTerminal(_ words: [String], _ environment: [String: String] = [:]) throws -> TerminalCommand {
        try TerminalCommand(
            words,
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "TZ": "UTC0", "TERM": "xterm", "LANG": "C.UTF-8"]
                .merging(environment) { _, given in given },
            columns: 60
        )
    }

    @Test("a frame is one write, and a tick writes only the line that changed")
    func sendsChangesAlone() throws {
        _ = try typist.type("start tea 1h")
        let command = try onTerminal(["attach", "tea"])
        let first = try command.read(through: "\u{1B}[?2026l")
        #expect(first.contains("space"))
        let second = try command.read(through: "\u{1B}[?2026l")
        #expect(second.contains("59:") && !second.contains("space"))
    }

    @Test("list is colored, except with NO_COLOR")
    func colours() throws {
        _ = try typist.type("start tea 1h")
        #expect(try onTerminal(["list"]).finish().shown.contains("\u{1B}[32mrunning\u{1B}[0m"))
        #expect(try !onTerminal(["list"], ["NO_COLOR": "1"]).finish().shown.contains("\u{1B}"))
    }
}
