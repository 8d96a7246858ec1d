import Glibc
import TestSupport
import Testing

@Suite("Following countdowns in a terminal")
final class FollowTerminalTests: TerminalSuite {
    @Test("attach shows a bar and its keys; a narrow terminal shows them on more lines")
    func attaches() throws {
        try run("start", "tea", "5m", "--label", "Earl Grey")
        try run("pause", "tea")
        let terminal = try terminal("countdownctl attach tea")
        try terminal.wait(toLookLike: "terminal-attach")
        #expect(try terminal.state("#{cursor_flag}") == "0")
        try terminal.resize(columns: 30, rows: 12)
        try terminal.wait(toLookLike: "terminal-attach-30")
        try terminal.resize(columns: 80, rows: 12)
        try terminal.wait(toLookLike: "terminal-attach")
        try terminal.type("q", untilExit: 130)
    }

    @Test("keys pause, resume, add and subtract a minute, and cancel")
    func keys() throws {
        try run("start", "tea", "1h")
        let terminal = try terminal("countdownctl attach tea")
        try terminal.wait(for: "space pause")
        try terminal.type(" ", until: "paused")
        try terminal.type("++")
        try terminal.wait(for: "1:0") { $0.contains(#/1:0[12]:/#) }
        try terminal.type("-")
        try terminal.wait(for: "one minute less") { $0.contains(#/1:0[01]:/#) }
        try terminal.type(" ", until: "ends ")
        #expect(try run("is-running", "tea").exitCode == 0)
        try terminal.type("c", until: "cancel tea (y/n)?")
        try terminal.type("n", until: "space pause")
        try terminal.type("cy", untilExit: 3)
        #expect(try terminal.picture().contains("tea: cancelled at"))
        #expect(try run("is-running", "tea").exitCode == 3)
    }

    @Test("it follows the countdown to its end and prints a line about it")
    func ends() throws {
        let terminal = try terminal("countdownctl start tea 2s --attach")
        try terminal.waitForExit(0)
        #expect(try terminal.picture().contains(#/^tea: finished at [0-9:]{8}\n\[exit 0\]$/#))
    }

    @Test(
        "however the screen is left, the countdown keeps running and the terminal is restored",
        arguments: [("\u{3}", 130), ("q", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)]
    )
    func leaves(by way: String, code: Int) throws {
        try run("start", "tea", "1h")
        let pid = daemon.directory.path(of: "pid")
        let terminal = try terminal(
            """
            before=$(stty -g)
            sh -c 'echo $$ > "$0"; exec countdownctl attach tea' '\(pid)'
            code=$?
            [ "$before" = "$(stty -g)" ] && echo as before
            (exit $code)
            """
        )
        try terminal.wait(for: "space pause")
        if way.count > 1 {
            try self.terminal("kill -s \(way) $(cat '\(pid)')").waitForExit(0)
        } else {
            try terminal.type(way)
        }
        try terminal.waitForExit(code)
        #expect(try terminal.picture().contains("as before"))
        #expect(try run("is-running", "tea").exitCode == 0)
    }

    @Test("watch shows several countdowns as a table that updates in place, with ends above it")
    func watches() throws {
        for (key, length) in [("tea", "5m"), ("茶道", "3m"), ("coffee", "1h")] {
            try run("start", key, length, "--label", key == "茶道" ? "抹茶" : "black")
            try run("pause", key)
        }
        let terminal = try terminal("countdownctl watch")
        try terminal.wait(toLookLike: "terminal-watch")
        try terminal.type("j", until: "› tea")
        try terminal.type("cy", untilItLooksLike: "terminal-watch-cancelled")
        try terminal.resize(columns: 30, rows: 12)
        try terminal.wait(toLookLike: "terminal-watch-30")
        try terminal.type("q", untilExit: 0)
    }

    @Test("a label with marks that have a space of their own, as wide as the terminal, leaves no line behind")
    func drawsMarks() throws {
        try run("start", "tea", "90m", "--label", "Tea")
        try run("start", "other", "80m", "--label", "रोज़ शाम की चाय की पत्ती और दूध के लिए घंटी बजाने की याद दिलाना नीचे रसोई में")
        let terminal = try terminal("countdownctl watch", columns: 79)
        for second in ["59", "58", "57"] {
            let picture = try terminal.wait(for: second) { $0.contains("1:19:\(second)") }
            #expect(picture.split(separator: "\n").count == 3, "\(picture)")
        }
    }

    @Test("a dumb terminal has lines, and so has one without a name, and a pipe")
    func lines() throws {
        try run("start", "tea", "1h")
        try terminal("countdownctl attach tea", ["TERM": "dumb"]).wait(for: "tea: running, ")
        try terminal("TERM= countdownctl attach tea").wait(for: "tea: running, ")
        try terminal("env -u TERM countdownctl attach tea").wait(for: "tea: running, ")
        try terminal("countdownctl attach tea | cat").wait(for: "tea: running, ")
    }

    @Test("with NO_COLOR nothing is colored")
    func colours() throws {
        try run("start", "tea", "1h")
        let terminal = try terminal("countdownctl attach tea", ["NO_COLOR": "1"])
        try terminal.wait(for: "space pause")
        #expect(try !terminal.colours().contains("\u{1B}[1m"))
        let coloured = try self.terminal("countdownctl attach tea --color always", ["NO_COLOR": "1"])
        try coloured.wait(for: "space pause")
        #expect(try coloured.colours().contains("\u{1B}[1m"))
    }

    @Test("a console without UTF-8 and the kernel's own are drawn in ASCII", arguments: ["xterm-256color", "linux"])
    func terminals(_ name: String) throws {
        try run("start", "tea", "1h")
        let terminal = try terminal(
            "countdownctl attach tea",
            ["TERM": name, "LANG": name == "linux" ? "C.UTF-8" : "C"]
        )
        try terminal.wait(for: "[----")
    }

    @Test(
        "every screen counts on while the daemon is away, and continues when it is back",
        arguments: ["attach tea", "start tea 1h --attach", "watch", "watch tea", "button tea"]
    )
    func losesDaemon(_ command: String) throws {
        try run("start", "tea", "1h")
        let terminal = try terminal("countdownctl \(command)")
        let left = #/59:[0-9]{2} |35[0-9]{2} s/#
        // The button has its words before it knows the countdown.
        try terminal.wait(for: "the time that is left") { $0.contains("q leave") && $0.contains(left) }
        try daemon.terminate()
        let sentence = "lost the connection to the daemon"
        let picture = try terminal.wait(for: sentence)
        try terminal.wait(for: "another second") { $0.contains(sentence) && $0 != picture }
        let again = try DaemonProcess(in: daemon.directory)
        try terminal.wait(for: "q leave")
        #expect(try terminal.picture().contains(left))
        try terminal.type("q", untilExit: command.contains("attach") ? 130 : 0)
        try again.terminate()
    }

    @Test("Ctrl-Z restores the terminal, and the screen continues when it is in the foreground again")
    func stops() throws {
        try run("start", "tea", "1h")
        let terminal = try terminal("exec bash --norc --noediting -i")
        try terminal.type("PS1='> '; clear\r")
        try terminal.type("countdownctl attach tea\r", until: "space pause")
        try terminal.type("\u{1A}", until: "Stopped")
        #expect(try terminal.state("#{cursor_flag}") == "1")
        try terminal.type("clear; fg\r", until: "space pause")
        try terminal.type("q", until: "keeps running")
    }
}
