import Foundation
import TestSupport
import Testing

@Suite("The button in a terminal")
final class ButtonScreenTests: TerminalSuite {
    private func file(_ name: String) -> String { daemon.directory.path(of: name) }

    @Test("a press runs the command once, the button counts, and can be pressed again at the end")
    func presses() throws {
        let terminal = try terminal(
            "countdownctl button login --for 3s --again Resend --sent 'Sent, again in {s} s' -- sh -c 'echo sent'"
        )
        try terminal.wait(toLookLike: "terminal-button-idle")
        try terminal.type("\r", untilItLooksLike: "terminal-button-counting")
        try terminal.type("\r \r", untilItLooksLike: "terminal-button-again")
        try terminal.type(" ", until: "Sent, again in")
        try terminal.type("q", untilExit: 0)
        #expect(try terminal.picture().contains("login: running, "))
        #expect(try terminal.picture().split(separator: "\n").count { $0 == "sent" } == 2)
    }

    @Test("a click on it presses it, wherever it is on the terminal, and a click beside it does not")
    func clicks() throws {
        let terminal = try terminal("seq 9; countdownctl button login")
        try terminal.wait(for: "enter press")
        #expect(try terminal.state("#{mouse_any_flag} #{mouse_sgr_flag}") == "1 1")
        let row = try #require(
            try terminal.picture().split(separator: "\n", omittingEmptySubsequences: false)
                .firstIndex { $0.contains("Get code") }
        )
        try terminal.click(row: row - 2, column: 5)
        try terminal.click(row: row, column: 40)
        #expect(try run("show", "login").exitCode == 4)
        try terminal.click(row: row, column: 5)
        try terminal.wait(for: "60 s") { $0.contains(#/[0-9]{2} s/#) }
        #expect(try run("is-running", "login").exitCode == 0)
    }

    @Test("of two buttons with one key that are pressed at once, one runs its command, and both count")
    func runsOneOfTwo() throws {
        let log = file("runs")
        let words = [
            "button", "login", "--for", "1h", "--counting", "counting", "--", "sh", "-c", "echo run >> '\(log)'",
        ]
        let buttons = try (0..<2).map { _ in
            try TerminalCommand(words, environment: environment.merging(["TERM": "xterm", "LANG": "C.UTF-8"]) { $1 })
        }
        for button in buttons { _ = try button.read(through: "press") }
        for round in 1...10 {
            for button in buttons { button.type("\r") }
            for button in buttons { _ = try button.read(through: "counting") }
            let runs = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count
            #expect(runs == round)
            try run("cancel", "login")
            for button in buttons { _ = try button.read(through: "press") }
        }
    }

    @Test(
        "if the terminal goes away, or the button is ended, the command is told, and the key is free when it has ended",
        arguments: [nil, SIGTERM, SIGHUP, SIGINT]
    )
    func ends(by signal: Int32?) throws {
        let log = file("told")
        let script = "trap 'echo $0 > \(log); exit 1' HUP TERM INT; echo begun > '\(log)'; while :; do sleep 0.01; done"
        let button = try TerminalCommand(
            ["button", "login", "--", "sh", "-c", script, "told"],
            environment: environment.merging(["TERM": "xterm", "PATH": "/usr/bin:/bin"]) { $1 }
        )
        _ = try button.read(through: "press")
        button.type("\r")
        try waitUntil("the command to begin") { (try? String(contentsOfFile: log, encoding: .utf8)) == "begun\n" }
        if let signal { button.process.send(signal: signal) } else { button.hangUp() }
        let ending = try button.process.wait()
        #expect(ending == (signal == SIGINT ? .exited(code: 130) : .killed(signal: signal ?? SIGHUP)))
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "told\n")
        #expect(try run("is-running", "login").exitCode == 3)
    }

    @Test("while the command runs it is dim, presses are ignored, and the key is held")
    func runs() throws {
        let log = file("log")
        let gate = file("gate")
        let terminal = try terminal(
            "mkfifo '\(gate)'; countdownctl button login -- sh -c 'echo run >> \(log); read -r line < \(gate)'"
        )
        try terminal.wait(for: "enter press")
        try terminal.type("\r", untilItLooksLike: "terminal-button-running")
        try terminal.type("\r\r ")
        #expect(try run("is-running", "login").exitCode == 0)
        try self.terminal("countdownctl button login -- false").wait(for: "it counts") { $0.contains(#/[0-9]{2} s/#) }
        let opener = try self.terminal("echo go > '\(gate)'; cat '\(log)'")
        try opener.wait(for: "run\n[exit 0]")
        try terminal.wait(for: "it counts") { $0.contains(#/[0-9]{2} s/#) }
        #expect(try opener.picture().split(separator: "\n").count { $0 == "run" } == 1)
    }

    @Test("a command that fails shows why, and leaves no countdown")
    func fails() throws {
        let terminal = try terminal(
            "countdownctl button login -- sh -c 'echo trying; echo no network >&2; exit 3'"
        )
        try terminal.wait(for: "enter press")
        try terminal.type("\r", untilItLooksLike: "terminal-button-failed")
        #expect(try run("is-running", "login").exitCode == 3)
        try terminal.type("q", untilExit: 0)
    }

    @Test("if it is left and opened again, also on another terminal, it shows its countdown")
    func comesBack() throws {
        let first = try terminal("countdownctl button login --for 1h")
        try first.wait(for: "enter press")
        try first.type("\r", until: " s ")
        try first.type("q", untilExit: 0)
        let second = try terminal("countdownctl button login --for 5s")
        try second.wait(for: "the hour's seconds") { $0.contains(#/3[56][0-9]{2} s/#) }
        let third = try terminal("countdownctl button login")
        try third.wait(for: "the hour's seconds") { $0.contains(#/3[56][0-9]{2} s/#) }
        try run("cancel", "login")
        try second.wait(for: "Get code")
        try third.wait(for: "Get code")
        try second.type("\r")
        try third.wait(for: "five seconds") { $0.contains(#/ [1-5] s/#) }
        try third.wait(for: "Get code")
    }

    @Test("Ctrl-C leaves it with 130, and with --once it ends as soon as it counts")
    func leaves() throws {
        let terminal = try terminal("countdownctl button login")
        try terminal.wait(for: "enter press")
        try terminal.type("\u{3}", untilExit: 130)
        let once = try self.terminal("countdownctl button login --once; countdownctl button login --once")
        try once.wait(for: "enter press")
        try once.type("\r", untilExit: 0)
    }

    @Test("without a terminal it names the subcommands to use instead")
    func withoutTerminal() throws {
        let terminal = try terminal("countdownctl button 'my key'", ["TERM": "dumb"])
        try terminal.waitForExit(64)
        #expect(try terminal.picture().contains("countdownctl start"))
    }

    @Test("no command is left as a zombie, and none inherits a descriptor")
    func leavesNothing() throws {
        let terminal = try terminal("countdownctl button login --for 1h -- sh -c 'ls /proc/$$/fd; echo end'")
        try terminal.wait(for: "enter press")
        try terminal.type("\r", until: " s ")
        let picture = try terminal.picture()
        #expect(picture.hasPrefix("0\n1\n2\nend\n"))
        let children = try self.terminal("ps -o stat= -e | grep -c '^Z' || true")
        try children.waitForExit(0)
    }
}
