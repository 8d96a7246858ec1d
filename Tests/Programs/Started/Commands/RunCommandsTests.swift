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

    @Test("the command has its words and its environment as they are, also if they are not UTF-8")
    func passesBytes() throws {
        let command = #"-- sh -c 'printf %s "$1$WORD" | od -An -tx1' sh "$WORD""#
        let run = try typist.type(
            shell: "WORD=$(printf 'Z\\374\\360\\237'); export WORD; countdownctl run tea 1h \(command)"
        )
        #expect(run.standardOutput == " 5a fc f0 9f 5a fc f0 9f\n")
        #expect(run.exitCode == 0)
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

    /// Begins `run` with a command that lives until its input ends.
    private func hold(_ line: String) throws -> RunningCommand {
        let words = line.split(separator: " ").map(String.init)
        let run = try RunningCommand(
            ["run"] + words + ["--", "sh", "-c", "echo ready; read line; exit 0"],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath],
            input: nil
        )
        #expect(try run.line() == "ready")
        return run
    }

    private func number(_ name: String, of key: String) throws -> Int {
        let text = try member(name, of: typist.type("show \(key) --json").standardOutput)
        return try #require(text.flatMap(Int.init))
    }

    /// The microseconds from the start of a countdown to its end.
    private func extent(of key: String) throws -> Int {
        try number("deadlineUSec", of: key) - number("startedUSec", of: key)
    }

    @Test("a command that takes longer than its cooldown does not overlap, and the key is free after it")
    func doesNotOverlap() throws {
        let first = try hold("tea 100ms")
        _ = try typist.type("start other 100ms --wait")
        let second = try typist.type("run tea 100ms -- echo two")
        #expect(second.standardOutput.isEmpty && second.exitCode == 75)
        first.endInput()
        #expect(try first.finish().exitCode == 0)
        #expect(try state(of: "tea") == "finished")
        #expect(try typist.type("run tea 1h -- echo three").standardOutput == "three\n")
    }

    @Test("the cooldown counts from the start of the command, with --from end from its exit")
    func countsFrom() throws {
        _ = try typist.type("run tea 20s -- true")
        #expect(try extent(of: "tea") == 20_000_000)
        #expect(try number("durationUSec", of: "tea") == 20_000_000)
        let run = try hold("milk 1h --from end")
        _ = try typist.type("start other 100ms --wait")
        run.endInput()
        #expect(try run.finish().exitCode == 0)
        #expect(try extent(of: "milk") > 3_600_100_000)
        let wrong = try typist.type("run tea 1h --from middle -- true")
        #expect(wrong.message.hasPrefix("countdownctl: invalid --from 'middle': use start or end"))
    }

    @Test("when countdownctl is killed, the countdown ends by itself after one hold")
    func isKilled() throws {
        let run = try hold("tea 1s")
        run.process.send(signal: SIGKILL)
        run.endInput()
        _ = try run.finish()
        #expect(try state(of: "tea") == "running")
        #expect(try extent(of: "tea") == 30_000_000)
    }

    @Test("a countdown that somebody ends or starts again meanwhile is left alone, and that is said unless it is quiet")
    func leavesLost() throws {
        for (line, message) in [
            ("finish tea", "tea: finished while the command was running; its end was not moved"),
            ("start tea 2h --restart", "tea: started again by another program; its end was not moved"),
        ] {
            for options in ["", " -q"] {
                let run = try hold("tea 1s\(options)")
                _ = try typist.type(line)
                let before = try typist.type("show tea --json").standardOutput
                run.endInput()
                let ended = try run.finish()
                #expect(ended.exitCode == 0)
                #expect(ended.messages == (options.isEmpty ? [message] : []))
                #expect(try member("revision", of: before).map(Int.init) == number("revision", of: "tea"))
                _ = try typist.type("cancel tea")
            }
        }
    }

    @Test("time that somebody adds meanwhile stays, and a paused countdown stays paused")
    func keepsOthersChanges() throws {
        let run = try hold("tea 20s")
        _ = try typist.type("adjust tea +1h")
        run.endInput()
        #expect(try run.finish().exitCode == 0)
        #expect(try extent(of: "tea") == 3_620_000_000)
        let paused = try hold("milk 20s")
        _ = try typist.type("pause milk")
        paused.endInput()
        #expect(try paused.finish().standardError.isEmpty)
        #expect(try state(of: "milk") == "paused")
    }

    @Test("a daemon that is started again while the command runs does not matter")
    func outlivesDaemon() throws {
        let run = try hold("tea 20s")
        try daemon.kill()
        let second = try DaemonProcess(in: daemon.directory)
        run.endInput()
        let ended = try run.finish()
        #expect(ended.exitCode == 0 && ended.standardError.isEmpty)
        #expect(try extent(of: "tea") == 20_000_000)
        withExtendedLifetime(second) {}
    }

    @Test("without a daemon at the exit the command's code is returned, and the cooldown that stays is reported")
    func losesDaemon() throws {
        let run = try hold("tea 1s")
        try daemon.kill()
        run.endInput()
        let ended = try run.finish()
        #expect(ended.exitCode == 0)
        let message = "countdownctl: tea: the countdown may be unchanged after the command: no daemon at "
        #expect(ended.message.hasPrefix(message))
    }

    @Test("--rate runs a command three times at once, says when to try again, and a failure does not count")
    func runsAtRate() throws {
        for _ in 0..<5 { #expect(try typist.type("run codes --rate 3/1h -- false").exitCode == 1) }
        for _ in 0..<3 {
            let run = try typist.type("run codes --rate 3/1h -- echo sent")
            #expect(run.standardOutput == "sent\n" && run.standardError.isEmpty && run.exitCode == 0)
        }
        let refused = try typist.type("run codes --rate 3/1h --json -- echo sent")
        #expect(refused.exitCode == 75)
        #expect(refused.message.wholeMatch(of: #/codes: again in (20:00|19:[0-9]{2})/#) != nil)
        #expect(try member("outcome", of: refused.standardOutput) == "refused")
        let microseconds = try #require(try member("retryAfterUSec", of: refused.standardOutput).flatMap(Int.init))
        #expect((1..<1_200_000_000).contains(microseconds))
        #expect(try typist.type("run codes --rate 3/1h -q -E 0 -- echo sent").exitCode == 0)
    }

    @Test("a failed command gives its time of the rate back though others use the key meanwhile")
    func givesTimeBack() throws {
        let run = try RunningCommand(
            ["run", "codes", "--rate", "3/1h", "--", "sh", "-c", "echo ready; read line; exit 1"],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath],
            input: nil
        )
        #expect(try run.line() == "ready")
        #expect(try typist.type("run codes --rate 3/1h -- true").exitCode == 0)
        run.endInput()
        #expect(try run.finish().exitCode == 1)
        #expect(try number("durationUSec", of: "codes") == 1_200_000_000)
        #expect(try state(of: "codes") == "running")
    }

    @Test("--wait queues until the command that holds the key has ended")
    func queues() throws {
        let first = try hold("tea 1s")
        let second = try typist.begin("run tea 1s --wait -- echo second")
        try awaitQueue(1)
        let third = try typist.begin("run tea 1s --wait=1h -- echo third")
        try awaitQueue(2)
        first.endInput()
        #expect(try first.finish().exitCode == 0)
        let run = try second.finish()
        #expect(run.standardOutput == "second\n" && run.exitCode == 0)
        #expect(try third.finish().standardOutput == "third\n")
    }

    @Test("--wait gives up after its timeout with code 75, or that of -E; Ctrl-C ends it")
    func stopsQueueing() throws {
        _ = try typist.type("start tea 1h")
        let late = try typist.type("run tea 1s --wait=10ms -- echo ran")
        #expect(late.message == "tea: its turn did not come within 10ms")
        #expect(late.exitCode == 75 && late.standardOutput.isEmpty)
        #expect(try typist.type("run tea 1s --wait=10ms -E 9 -q -- echo ran").exitCode == 9)
        let interrupted = try typist.begin("run tea 1s --wait -- echo ran")
        try awaitQueue(1)
        interrupted.interrupt()
        #expect(try interrupted.finish().exitCode == 130)
        try awaitQueue(0)
        let command = try typist.type(words: ["run", "milk", "1s", "--wait", "--", "sh", "-c", "kill -INT $$"])
        #expect(command.exitCode == 130)
    }

    @Test("--on-lost sends its signal as soon as another program ends the countdown or starts it again")
    func signalsLoss() throws {
        for line in ["cancel tea", "start tea 2h --restart"] {
            let script = "trap 'exit 9' USR1; echo ready; while :; do sleep 0.01; done"
            let run = try RunningCommand(
                ["run", "tea", "1d", "--on-lost", "USR1", "--", "sh", "-c", script],
                environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
            )
            #expect(try run.line() == "ready")
            _ = try typist.type("adjust tea +1m")
            _ = try typist.type(line)
            let ended = try run.finish()
            #expect(ended.exitCode == 9)
            #expect(ended.messages.last == "countdownctl: tea: the hold is lost; the command gets signal 10")
            _ = try typist.type("cancel tea")
        }
    }

    @Test("--wait recognizes its own start if the daemon started it and the reply was lost")
    func recognizesOwnStart() throws {
        let other = try ListeningSocket(path: daemon.directory.path(of: "other"))
        let run = try Typist(at: other.path).begin("run tea 1h --wait -- echo ran")
        let call = try other.accept().nextMessage()
        let token = try #require(call?.firstMatch(of: /"run":"([0-9a-f]+)"/)?.1)
        func countdown(_ run: some StringProtocol) -> String {
            """
            {"parameters":{"countdown":{"key":"tea","state":"running","clock":"elapsed","durationUSec":3600000000,\
            "remainingUSec":3600000000,"startedUSec":1,"revision":1,"forget":false,"metadata":{"run":"\(run)"}}}}
            """
        }
        let again = try other.accept()
        #expect(try again.message().contains("io.countdownd.Get"))
        try again.send(message: countdown(token))
        #expect(try run.line() == "ran")
        #expect(try run.finish().exitCode == 0)
        // The start of another caller is waited for.
        let queued = try Typist(at: other.path).begin("run tea 1h --wait -- echo ran")
        #expect(try other.accept().nextMessage()?.contains("io.countdownd.Start") == true)
        let third = try other.accept()
        #expect(try third.exchange(countdown("other")).isEmpty == false)
        queued.process.send(signal: SIGINT)
        #expect(try queued.finish().exitCode == 130)
    }

    @Test("--wait queues again when the daemon is started again")
    func queuesAgain() throws {
        _ = try typist.type("start tea 1h")
        let run = try typist.begin("run tea 1s --wait -- echo ran")
        try awaitQueue(1)
        try daemon.kill()
        let second = try DaemonProcess(in: daemon.directory)
        try awaitQueue(1)
        _ = try typist.type("cancel tea")
        let ended = try run.finish()
        #expect(ended.standardOutput == "ran\n")
        #expect(ended.messages == ["lost the connection to the daemon; reconnecting"])
        withExtendedLifetime(second) {}
    }

    /// Waits until that many calls queue.
    private func awaitQueue(_ count: Int, until deadline: ContinuousClock.Instant = .now + .seconds(30)) throws {
        while ContinuousClock.now < deadline {
            if try member("queuedStarts", of: typist.type("status --json").standardOutput) == "\(count)" { return }
        }
        Issue.record("\(count) calls do not queue")
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
            (
                "run tea --on-lost TERMINATE -- true",
                "invalid --on-lost 'TERMINATE': use the name or the number of a signal, such as TERM or 15"
            ),
            ("run tea 5m -E 256 -- true", "invalid --conflict-exit-code '256': use 0 to 255"),
        ]
    )
    func refusesWhatIsTyped(_ line: String, _ message: String) throws {
        let run = try typist.type(line)
        #expect(run.message == "countdownctl: \(message)")
        #expect(run.exitCode == 64)
    }
}
