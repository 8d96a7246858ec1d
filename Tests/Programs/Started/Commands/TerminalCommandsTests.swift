import Foundation
import Glibc
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

    @Test("alone on a terminal it prints what list prints if a daemon runs, and otherwise starts none")
    func listsAlone() throws {
        try prepare("start tea 1h", "pause tea")
        let shown = try onTerminal([]).finish().shown
        #expect(shown == (try onTerminal(["list"]).finish().shown) && shown.contains("tea"))
        #expect(try typist.type("").standardOutput.contains("countdownctl 5m Green tea"))
        // A socket of a service manager, which would start the daemon.
        let path = directory.path(of: "socket")
        let socket = try ListeningSocket(path: path)
        let alone = try onTerminal([], ["COUNTDOWND_SOCKET": path]).finish()
        #expect(alone.ending == .exited(code: 0) && alone.shown.contains("countdownctl start tea 5m --attach"))
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 0) == 0)
    }

    @Test("attach --plain and watch --plain print lines on a terminal")
    func printsLines() throws {
        _ = try typist.type("start tea 5s")
        let attach = try onTerminal(["attach", "tea", "--plain", "--tick", "0"])
        let watch = try onTerminal(["watch", "--plain"])
        #expect(try watch.read(through: "0:03 left").contains("tea: running, 0:0"))
        let shown = try attach.finish().shown
        #expect(!shown.contains("\u{1B}") && shown.contains("tea: finished") && !shown.contains("tea: 0:"))
    }

    @Test("list is colored, except with NO_COLOR")
    func colours() throws {
        _ = try typist.type("start tea 1h")
        #expect(try onTerminal(["list"]).finish().shown.contains("\u{1B}[32mrunning\u{1B}[0m"))
        #expect(try !onTerminal(["list"], ["NO_COLOR": "1"]).finish().shown.contains("\u{1B}"))
    }
}
