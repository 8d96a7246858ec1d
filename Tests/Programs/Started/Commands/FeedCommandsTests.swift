import Foundation
import IPC
import TestSupport
import Testing
import VarlinkDefinition

@Suite("countdownctl watch --format, show --format and watch --exec")
final class FeedCommandsTests: CommandSuite {
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

    /// A command that starts a countdown of a kind, with the words for its length after it.
    private static let kinds = [
        "start timer/a", "start c --meta cooldown=yes", "start undo/d", "start r --rate", "run h",
    ]

    @Test("what a bar shows first is what @next is, whatever else counts", arguments: kinds, kinds)
    func showsWhatChanges(_ first: String, _ second: String) throws {
        func start(_ kind: String, _ key: String, _ hours: Int) throws {
            let words = kind.split(separator: " ").map(String.init)
            let length = words.last == "--rate" ? "1/\(hours)h" : "\(hours)h"
            let command = words.first == "run" ? ["--", "true"] : []
            let run = try typist.type(words: [words[0], words[1] + key] + words.dropFirst(2) + [length] + command)
            #expect(run.exitCode == 0, "\(run)")
        }
        try start(first, "1", 1)
        try start(second, "2", 2)
        let keys = [first, second].enumerated().map { $1.split(separator: " ")[1] + "\($0 + 1)" }
        for paused in [[], [keys[0]], keys, [keys[1]]] {
            for key in keys { _ = try typist.type("\(paused.contains(key) ? "pause" : "resume") \(key)") }
            let next = try typist.type("show @next --format {key}").standardOutput
            let watch = try typist.begin("watch --format {key} --tick 0")
            #expect(try watch.line() == (next.isEmpty ? "" : String(next.dropLast())), "\(paused)")
            _ = try watch.stop()
            #expect(next.isEmpty == ![first, second].contains("start timer/a"))
        }
    }

    @Test("a feed starts before its daemon, shows nothing while the daemon is away, and the state when it is back")
    func outlivesDaemons() throws {
        let place = try TemporaryDirectory()
        let typist = Typist(at: place.path(of: "socket"))
        let watch = try typist.begin(words: ["watch", "--format", "{key} {state}", "--tick", "0"])
        #expect(try watch.line() == "")
        let first = try DaemonProcess(in: place)
        _ = try typist.type("start tea 1h")
        #expect(try watch.line() == "tea running")
        try first.kill()
        #expect(try watch.line() == "")
        let second = try DaemonProcess(in: place)
        #expect(try watch.line() == "tea running")
        #expect(try watch.stop().exitCode == 130)
        try second.terminate()
    }

    @Test("a countdown that ended and was forgotten while a feed was cut off is not shown any more")
    func forgetsWhileAway() throws {
        let link = directory.path(of: "link")
        func connect() throws {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: daemon.socketPath)
        }
        try connect()
        let watch = try Typist(at: link).begin(words: ["watch", "--format", "{key} {state}", "--tick", "0"])
        #expect(try watch.line() == "")
        try prepare("start tea 1h")
        #expect(try watch.line() == "tea running")
        try prepare("start egg 30m --forget")
        #expect(try watch.line() == "egg running")
        try FileManager.default.removeItem(atPath: link)
        try restartDaemon()
        #expect(try watch.line() == "")
        try prepare("finish egg")
        try connect()
        // The watch comes first. Then the daemon lists the countdowns that still run.
        var line = try watch.line()
        if line == "egg running" { line = try watch.line() }
        #expect(line == "tea running")
        #expect(try watch.stop().exitCode == 130)
    }

    /// Begins a watch with a hook, which may write into the FIFO `out`.
    private func hook(_ words: String...) throws -> RunningCommand {
        #expect(unsafe mkfifo(out, 0o600) == 0)
        let watch = try begin(["watch", "-q", "--exec"] + words)
        try typist.awaitWatchers(1)
        return watch
    }

    /// The text that a hook writes into the FIFO.
    private func written() throws -> String {
        try RunningCommand([out], executable: "/bin/cat").finish().standardOutput
    }

    @Test("--exec runs a command for each event of --on, with the event in its environment and on its standard input")
    func runsCommands() throws {
        let script = #"read -r event; echo "$COUNTDOWN_EVENT $COUNTDOWN_KEY $COUNTDOWN_LABEL" "$event" > "$OUT""#
        let watch = try hook(script, "--shell", "--on", "finished,cancelled")
        _ = try typist.type(words: ["start", "tea", "1h", "--label", "$(x) `y`"])
        try prepare("finish tea")
        let text = try written()
        #expect(text.hasPrefix("finished tea $(x) `y` {"))
        #expect(try member("key", of: String(text.drop { $0 != "{" })) == "tea")
        #expect(try watch.stop().messages == [])
    }

    @Test("without --shell no shell is used: words stay words, and fields are filled in")
    func runsWords() throws {
        let watch = try hook("tee '\(out)' {label};", "--on", "started")
        let named = directory.path(of: "a b")
        _ = try typist.type(words: ["start", "tea", "1h", "--label", named])
        #expect(try member("type", of: written()) == "started")
        _ = try watch.stop()
        #expect(FileManager.default.fileExists(atPath: named + ";"))
    }

    @Test(
        "a hook that fails, does not exist or takes too long is reported, and the watch continues",
        arguments: [
            ("false", "1m", "countdownctl: 'false' failed with exit code 1"),
            ("/nowhere", "1m", "countdownctl: cannot run '/nowhere': No such file or directory"),
            ("tail -f /dev/null", "10ms", "countdownctl: 'tail' timed out and was terminated"),
        ]
    )
    func tellsOfCommands(command: String, timeout: String, message: String) throws {
        let words = ["watch", "--format", "{key} {state}", "--tick", "0", "--on", "started"]
        let watch = try begin(words + ["--exec", command, "--exec-timeout", timeout])
        #expect(try watch.line() == "")
        for _ in 0..<2 {
            try prepare("start tea 1h")
            #expect(try watch.line() == "tea running")
            try prepare("cancel tea")
            #expect(try watch.line() == "")
        }
        let process = watch.process.identifier
        try waitUntil("no child is left, zombies included") {
            try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8).isEmpty
        }
        #expect(try watch.stop().messages == [message, message])
    }

    @Test("a script without #! is run by sh")
    func runsScripts() throws {
        let script = try directory.write(#"echo "ran $1" > "$OUT""#, to: "job")
        #expect(unsafe chmod(script, 0o700) == 0)
        let watch = try hook("'\(script)' {key}", "--on", "started")
        try prepare("start tea 1h")
        #expect(try written() == "ran tea\n")
        _ = try watch.stop()
    }

    @Test("a command that has stopped is ended, too, if the terminal goes away")
    func endsStopped() throws {
        #expect(unsafe mkfifo(out, 0o600) == 0)
        let script = #"trap 'echo ended > "$OUT"; exit' TERM; echo $$ > "$OUT"; kill -STOP $$; exit"#
        let watch = try TerminalCommand(
            ["watch", "-q", "--on", "started", "--shell", "--exec", script],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out, "PATH": "/usr/bin:/bin"]
        )
        try typist.awaitWatchers(1)
        try prepare("start tea 1h")
        let hook = try written().trimmingCharacters(in: .newlines)
        try waitUntil("the command to stop") {
            try String(contentsOfFile: "/proc/\(hook)/stat", encoding: .utf8).contains(") T ")
        }
        watch.hangUp()
        #expect(try written() == "ended\n")
        #expect(try watch.process.wait() == .killed(signal: SIGHUP))
    }

    @Test(
        "a watch that is stopped ends the commands that it has started",
        arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT]
    )
    func endsCommands(_ signal: Int32) throws {
        let script = #"trap 'echo ended > "$OUT"; exit' TERM; echo begun > "$OUT"; tail -f /dev/null & wait"#
        let watch = try hook(script, "--shell", "--on", "started")
        try prepare("start tea 1h")
        #expect(try written() == "begun\n")
        watch.process.send(signal: signal)
        #expect(try written() == "ended\n")
        #expect(try watch.finish().ending == (signal == SIGINT ? .exited(code: 130) : .killed(signal: signal)))
    }
}
