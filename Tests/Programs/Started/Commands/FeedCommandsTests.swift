import Foundation
import IPC
import TestSupport
import Testing

@Suite("countdownctl watch --format, show --format and watch --exec")
struct FeedCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    /// Runs a watch that does not end.
    private func begin(_ words: [String]) throws -> RunningCommand {
        try RunningCommand(words, environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "TZ": "UTC0"])
    }

    @Test("watch --format waybar prints an idle object first, then a line for each change, and an idle one in the end")
    func feedsWaybar() throws {
        let watch = try typist.begin("watch --format waybar --tick 0")
        #expect(try watch.line() == #"{"text":"","alt":"idle","tooltip":"","class":"idle","percentage":0}"#)
        _ = try typist.type("start tea 1h --label a&b")
        let line = try #require(try watch.line())
        #expect(try member("class", of: line) == "running")
        #expect(try member("text", of: line) == "a&amp;b 1:00:00")
        _ = try typist.type("pause tea")
        #expect(try watch.line().map { try member("class", of: $0) } == "paused")
        _ = try typist.type("finish tea")
        #expect(try watch.line().map { try member("class", of: $0) } == "finished")
        #expect(try watch.line().map { try member("class", of: $0) } == "idle")
        watch.interrupt()
        #expect(try watch.finish().exitCode == 130)
    }

    @Test("with several countdowns, the one that ends first is shown, and the others are in the tooltip")
    func feedsSeveral() throws {
        for line in ["start late 2h", "start early 1h", "start other 1m"] { _ = try typist.type(line) }
        let watch = try typist.begin("watch --format waybar [le]a* --tick 0")
        let line = try #require(try watch.line())
        #expect(try member("text", of: line)?.hasPrefix("early ") == true)
        let keys = try #require(try member("tooltip", of: line)).split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(keys == ["early", "late"])
    }

    @Test("watch --format i3bar begins with the header of its protocol")
    func feedsI3bar() throws {
        _ = try typist.type("start tea 1h")
        let watch = try typist.begin("watch --format i3bar --tick 0")
        #expect(try watch.line() == #"{"version":1}"#)
        #expect(try watch.line() == "[")
        let line = try #require(try watch.line())
        #expect(line.hasPrefix("[{") && line.hasSuffix("}],"))
        #expect(try member("instance", of: String(line.dropFirst().dropLast(2))) == "tea")
    }

    @Test("watch --format json prints the objects of List")
    func feedsObjects() throws {
        let watch = try typist.begin("watch --format json --tick 0")
        let definition = try Definition(parsing: Interface.definition)
        #expect(try watch.line() == #"{"countdowns":[]}"#)
        _ = try typist.type("start tea 1h")
        let line = try #require(try watch.line())
        #expect(definition.check(reply: Array(line.utf8), of: "List") == [])
        #expect(line.contains(#""key":"tea""#))
    }

    @Test("watch --format TEMPLATE prints a line each second, and an empty one if no countdown is live")
    func feedsTemplates() throws {
        let watch = try begin(["watch", "--format", "{key} {s} {state}"])
        #expect(try watch.line()?.isEmpty == true)
        _ = try typist.type("start tea 2s")
        for line in ["tea 2 running", "tea 1 running", "tea 0 finished", ""] { #expect(try watch.line() == line) }
    }

    @Test("a feed starts before its daemon, shows nothing while the daemon is away, and the state when it is back")
    func outlivesDaemons() throws {
        let directory = try TemporaryDirectory()
        let watch = try RunningCommand(
            ["watch", "--format", "{key} {state}", "--tick", "0"],
            environment: ["COUNTDOWND_SOCKET": directory.path(of: "socket")]
        )
        #expect(try watch.line()?.isEmpty == true)
        do {
            let daemon = try DaemonProcess(in: directory)
            _ = try Typist(daemon).type("start tea 1h")
            #expect(try watch.line() == "tea running")
            try daemon.kill()
        }
        #expect(try watch.line()?.isEmpty == true)
        let daemon = try DaemonProcess(in: directory)
        #expect(try watch.line() == "tea running")
        watch.interrupt()
        #expect(try watch.finish().exitCode == 130)
        try daemon.terminate()
    }

    @Test("a countdown that ended and was forgotten while a feed was cut off is not shown any more")
    func forgetsWhileAway() throws {
        let directory = try TemporaryDirectory()
        let link = directory.path(of: "link")
        func connect() throws {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path(of: "socket"))
        }
        let watch = try RunningCommand(
            ["watch", "--format", "{key} {state}", "--tick", "0"],
            environment: ["COUNTDOWND_SOCKET": link]
        )
        #expect(try watch.line()?.isEmpty == true)
        do {
            let daemon = try DaemonProcess(in: directory)
            try connect()
            _ = try Typist(daemon).type("start tea 1h")
            #expect(try watch.line() == "tea running")
            _ = try Typist(daemon).type("start egg 30m --forget")
            #expect(try watch.line() == "egg running")
            try FileManager.default.removeItem(atPath: link)
            try daemon.kill()
        }
        #expect(try watch.line()?.isEmpty == true)
        let daemon = try DaemonProcess(in: directory)
        _ = try Typist(daemon).type("finish egg")
        try connect()
        // The watch comes first. Then the daemon lists the countdowns that still run.
        var line = try watch.line()
        if line == "egg running" { line = try watch.line() }
        #expect(line == "tea running")
        watch.interrupt()
        #expect(try watch.finish().exitCode == 130)
        try daemon.terminate()
    }

    @Test("a feed whose reader has gone ends by itself with code 0, even if nothing happens")
    func endsUnread() throws {
        let run = try typist.type(shell: "{ countdownctl watch --format waybar; echo $? >&2; } | head -n 1")
        #expect(run.data.count == 1)
        #expect(run.messages == ["0"])
    }

    @Test("show --format fills a template, and prints nothing and exits with 4 for an unknown key")
    func showsTemplates() throws {
        _ = try typist.type("start tea 1h --label green")
        _ = try typist.type("pause tea")
        let run = try typist.type(words: ["show", "tea", "--format", "{label}: {state}, {percent} %, ends {end}"])
        #expect(run.standardOutput == "green: paused, 0 %, ends -\n")
        #expect(run.exitCode == 0)
        let unknown = try typist.type("show coffee --format {s}")
        #expect(unknown.standardOutput.isEmpty && unknown.standardError.isEmpty)
        #expect(unknown.exitCode == 4)
    }

    @Test("--exec runs a command for each event of --on, with the event in its environment and on its standard input")
    func runsCommands() throws {
        let script = #"read -r event; echo "$COUNTDOWN_EVENT $COUNTDOWN_KEY $COUNTDOWN_LABEL" "$event" > "$OUT""#
        let out = daemon.directory.path(of: "out")
        #expect(unsafe mkfifo(out, 0o600) == 0)
        let watch = try RunningCommand(
            ["watch", "--on", "finished,cancelled", "--exec", script, "--shell"],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out]
        )
        try typist.awaitWatchers(1)
        _ = try typist.type(words: ["start", "tea", "1h", "--label", "$(x) `y`"])
        _ = try typist.type("finish tea")
        let text = try read(out)
        #expect(text.hasPrefix("finished tea $(x) `y` {"))
        #expect(try member("key", of: String(text.drop { $0 != "{" })) == "tea")
        watch.interrupt()
        #expect(try watch.finish().messages == [])
    }

    @Test("without --shell no shell is used: words stay words, and fields are filled in")
    func runsWords() throws {
        let out = daemon.directory.path(of: "out")
        #expect(unsafe mkfifo(out, 0o600) == 0)
        let watch = try begin(["watch", "-q", "--on", "started", "--exec", "tee '\(out)' {label};"])
        try typist.awaitWatchers(1)
        let named = daemon.directory.path(of: "a b")
        _ = try typist.type(words: ["start", "tea", "1h", "--label", named])
        #expect(try member("type", of: read(out)) == "started")
        watch.interrupt()
        _ = try watch.finish()
        #expect(FileManager.default.fileExists(atPath: named + ";"))
    }

    @Test("a hook that fails, does not exist or takes too long is reported, and the watch continues")
    func tellsOfCommands() throws {
        for (command, timeout, message) in [
            ("false", "1m", "countdownctl: 'false' failed with exit code 1"),
            ("/nowhere", "1m", "countdownctl: cannot run '/nowhere': No such file or directory"),
            ("tail -f /dev/null", "10ms", "countdownctl: 'tail' timed out and was terminated"),
        ] {
            let watch = try begin([
                "watch", "--format", "{key} {state}", "--tick", "0", "--on", "started", "--exec", command,
                "--exec-timeout", timeout,
            ])
            #expect(try watch.line()?.isEmpty == true)
            for _ in 0..<2 {
                _ = try typist.type("start tea 1h")
                #expect(try watch.line() == "tea running")
                _ = try typist.type("cancel tea")
                #expect(try watch.line()?.isEmpty == true)
            }
            try awaitChildren(of: watch.process.identifier, count: 0)
            watch.interrupt()
            #expect(try watch.finish().messages == [message, message])
        }
    }

    @Test("a watch that is stopped ends the commands that it has started", arguments: [SIGTERM, SIGHUP, SIGINT])
    func endsCommands(_ signal: Int32) throws {
        let out = daemon.directory.path(of: "out")
        #expect(unsafe mkfifo(out, 0o600) == 0)
        let script = #"trap 'echo ended > "$OUT"; exit' TERM; echo begun > "$OUT"; tail -f /dev/null & wait"#
        let watch = try RunningCommand(
            ["watch", "-q", "--on", "started", "--exec", script, "--shell"],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out]
        )
        try typist.awaitWatchers(1)
        _ = try typist.type("start tea 1h")
        #expect(try read(out) == "begun\n")
        watch.process.send(signal: signal)
        #expect(try read(out) == "ended\n")
        #expect(try watch.finish().ending == (signal == SIGINT ? .exited(code: 130) : .killed(signal: signal)))
    }

    /// The text that is written to a FIFO.
    private func read(_ path: String) throws -> String {
        try RunningCommand([path], executable: "/bin/cat").finish().standardOutput
    }

    /// Waits until a process has this many children, zombies included.
    private func awaitChildren(
        of process: pid_t,
        count: Int,
        until end: ContinuousClock.Instant = .now + .seconds(30)
    ) throws {
        while ContinuousClock.now < end {
            let children = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
            if children.split(separator: " ").count == count { return }
        }
        throw TooManyChildren()
    }

    private struct TooManyChildren: Error {}

    @Test(
        "usage errors exit with 64",
        arguments: [
            (["watch", "--format", "wayber"], "invalid --format 'wayber': use json, waybar, i3bar or a template"),
            (["watch", "--format", "{kye}"], "unknown field '{kye}' in a template; the fields are {key} {label}"),
            (["watch", "--soon", "5m"], "--soon and --urgent need --format"),
            (["watch", "--on", "finished"], "missing --exec"), (["watch", "--exec", "true"], "missing --on"),
            (
                ["watch", "--on", "tick", "--exec", "true"],
                "invalid --on 'tick': use attached"
            ),
            (["watch", "--on", "finished", "--exec", "'a"], "invalid --exec ''a': unmatched quote"),
            (["watch", "--format", "{s}", "--json"], "use either --json or --format"),
            (["show", "tea", "--format", "x"], "template 'x' has no field; the fields are {key} {label}"),
            (["show", "tea", "--format", "{s}", "--json"], "use either --json or --format"),
        ]
    )
    func refusesWhatIsTyped(_ words: [String], _ message: String) throws {
        let run = try typist.type(words: words)
        #expect(run.message.hasPrefix("countdownctl: \(message)"))
        #expect(run.exitCode == 64)
    }
}
