import Foundation
import TestSupport
import Testing

@Suite("countdownctl run")
struct RunCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    private func state(of key: String) throws -> String? {
        try member("state", of: typist.type("show \(key) --json").standardOutput)
    }

    @Test("run KEY D -- COMMAND runs the command and starts the countdown, and not again while it counts")
    func runsOnce() throws {
        let first = try typist.type("run tea 1h --label green -- echo one --json two")
        #expect(first.standardOutput == "one --json two\n")
        #expect(first.standardError.isEmpty)
        #expect(first.exitCode == 0)
        #expect(try member("label", of: typist.type("show tea --json").standardOutput) == "green")
        let second = try typist.type("run tea 1h -- echo two")
        #expect(second.standardOutput.isEmpty)
        #expect(second.message.wholeMatch(of: #/tea \(green\): again in (1:00:00|59:[0-9]{2})/#) != nil)
        #expect(second.exitCode == 75)
    }

    @Test("less than a minute is printed in seconds, and for a paused countdown the error names resume")
    func tellsWhen() throws {
        _ = try typist.type("run tea --for 59s -- true")
        #expect(try typist.type("run tea -- true").message.wholeMatch(of: #/tea: again in [0-9]+ s/#) != nil)
        _ = try typist.type("pause tea")
        let run = try typist.type("run tea -- true")
        #expect(run.message.hasSuffix(" s after `countdownctl resume tea`"))
        #expect(run.exitCode == 75)
    }

    @Test("-E N is the code during the cooldown, and -q prints nothing then")
    func keepsQuiet() throws {
        _ = try typist.type("run tea 1h -- true")
        let run = try typist.type("run tea 1h -q -E 0 -- echo two")
        #expect(run.standardOutput.isEmpty && run.standardError.isEmpty)
        #expect(run.exitCode == 0)
        #expect(try typist.type("run tea 1h --conflict-exit-code 9 -- echo two").exitCode == 9)
    }

    @Test(
        "the exit code of run is the command's, and a command that fails cancels the cooldown",
        arguments: [("true", 0, "running"), ("exit 7", 7, "cancelled"), ("kill -USR1 $$", 138, "cancelled")]
            as [(String, Int32, String)]
    )
    func passesCodes(_ script: String, _ code: Int32, _ state: String) throws {
        #expect(try typist.type(words: ["run", "tea", "1h", "--", "sh", "-c", script]).exitCode == code)
        #expect(try self.state(of: "tea") == state)
    }

    @Test(
        "a command that does not exist exits with 127, one that cannot be run with 126, as in timeout(1); no cooldown stays"
    )
    func failsToRun() throws {
        let missing = try typist.type("run tea 1h -- /nowhere/to/be/found")
        #expect(missing.messages == ["countdownctl: cannot run '/nowhere/to/be/found': No such file or directory"])
        #expect(missing.exitCode == 127)
        #expect(try state(of: "tea") == "cancelled")
        #expect(try typist.type("run tea 1h -- /etc/passwd").exitCode == 126)
        #expect(try state(of: "tea") == "cancelled")
    }

    @Test("--keep-on-failure keeps the cooldown of a command that fails")
    func keepsOnFailure() throws {
        #expect(try typist.type("run tea 1h --keep-on-failure -- false").exitCode == 1)
        #expect(try state(of: "tea") == "running")
    }

    @Test("a countdown that another client has started meanwhile is not cancelled if the command fails")
    func sparesOthers() throws {
        let script = "'\(try BuiltProduct.path(of: "countdownctl"))' start tea 2h --restart -q; exit 1"
        #expect(try typist.type(words: ["run", "tea", "1h", "--", "sh", "-c", script]).exitCode == 1)
        #expect(try state(of: "tea") == "running")
    }

    @Test("a signal is passed on to the command")
    func passesSignalsOn() throws {
        let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"
        let run = try RunningCommand(
            ["run", "tea", "1h", "--", "sh", "-c", script],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
        )
        #expect(try run.line() == "ready")
        run.process.send(signal: SIGTERM)
        #expect(try run.finish().exitCode == 9)
        #expect(try state(of: "tea") == "cancelled")
    }

    @Test("of many at once one runs")
    func runsOneOfMany() throws {
        let all = try (0..<6).map { _ in try typist.begin("run tea 1h -- echo ran") }
        let runs = try all.map { try $0.finish() }
        #expect(runs.map(\.standardOutput).joined() == "ran\n")
        #expect(runs.count { $0.exitCode == 75 } == 5)
    }

    @Test("without a daemon the command is not run")
    func needsDaemon() throws {
        let run = try Typist(at: daemon.directory.path(of: "none")).type("run tea 1h -- echo ran")
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 69)
    }

    @Test(
        "usage errors exit with 64",
        arguments: [
            ("run", "missing key; for example `countdownctl run backup 1d -- COMMAND`"),
            ("run 5m -- true", "missing key; for example `countdownctl run backup 5m -- COMMAND`"),
            ("run tea 5m", "missing command; for example `countdownctl run tea 1h -- COMMAND`"),
            ("run tea 5m --for 5m -- true", "use either DURATION or --for"),
            ("run tea 0 -- true", "the duration must be at least 1us"),
            ("run tea 5m -E 256 -- true", "invalid --conflict-exit-code '256': use 0 to 255"),
        ]
    )
    func refusesWhatIsTyped(_ line: String, _ message: String) throws {
        let run = try typist.type(line)
        #expect(run.message == "countdownctl: \(message)")
        #expect(run.exitCode == 64)
    }
}
