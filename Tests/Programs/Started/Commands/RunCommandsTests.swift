import Foundation
import Glibc
import TestSupport
import Testing

@Suite("countdownctl run")
final class RunCommandsTests: CommandSuite {
    /// Begins `run` with a script, up to the line that the script prints first.
    private func hold(_ line: String, _ script: String = "echo ready; read line; exit 0") throws -> RunningCommand {
        let run = try begin(["run"] + line.split(separator: " ").map(String.init) + ["--", "sh", "-c", script])
        #expect(try run.line() == "ready")
        return run
    }

    /// Lets the script of `hold` exit.
    private func release(_ run: RunningCommand) throws -> CommandRun {
        run.endInput()
        return try run.finish()
    }

    private func number(_ name: String, of key: String) throws -> Int {
        try #require(try shown(name, of: key).flatMap(Int.init))
    }

    /// The microseconds from the start of a countdown to its end.
    private func extent(of key: String) throws -> Int {
        try number("deadlineUSec", of: key) - number("startedUSec", of: key)
    }

    @Test("a countdown that another client has started meanwhile is not cancelled if the command fails")
    func sparesOthers() throws {
        let script = "'\(try BuiltProduct.path(of: "countdownctl"))' start tea 2h --restart -q; exit 1"
        #expect(try typist.type(words: ["run", "tea", "1h", "--", "sh", "-c", script]).exitCode == 1)
        #expect(try shown("state", of: "tea") == "running")
    }

    @Test("a signal is passed on to the command")
    func passesSignalsOn() throws {
        let run = try hold("tea 1h", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done")
        run.process.send(signal: SIGTERM)
        #expect(try run.finish().exitCode == 9)
        #expect(try shown("state", of: "tea") == "cancelled")
    }

    @Test("a command that is stopped takes the signal at once")
    func signalsStopped() throws {
        let run = try begin(["run", "tea", "1h", "--", "sh", "-c", "trap 'exit 9' TERM; echo $$; kill -STOP $$"])
        let command = try #require(try run.line())
        try waitUntil("the command to stop") {
            try String(contentsOfFile: "/proc/\(command)/stat", encoding: .utf8).contains(") T ")
        }
        run.process.send(signal: SIGTERM)
        #expect(try run.finish().exitCode == 9)
    }

    /// Begins `run` as the leader of the session of a terminal, with a script that goes on until the FIFO `gate` is opened.
    private func holdOnTerminal(_ trap: String, ignoresHangUp: Bool = false) throws -> TerminalCommand {
        let gate = directory.path(of: "gate")
        #expect(unsafe mkfifo(gate, 0o600) == 0)
        let script = "\(trap); echo ready; until read line < '\(gate)'; do :; done; echo went on > '\(out)'"
        let command = try TerminalCommand(
            ["run", "tea", "1h", "-q", "--", "sh", "-c", script],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "TERM": "xterm"],
            ignoresHangUp: ignoresHangUp
        )
        _ = try command.read(through: "ready")
        return command
    }

    @Test("if the terminal goes away, the command is told, and the key is free when it has ended")
    func passesHangUpOn() throws {
        let command = try holdOnTerminal("trap 'exit 9' HUP")
        command.hangUp()
        #expect(try command.process.wait() == .exited(code: 9))
        #expect(try shown("state", of: "tea") == "cancelled")
    }

    @Test("if it was started to ignore that, as by nohup, the command goes on")
    func ignoresHangUp() throws {
        let command = try holdOnTerminal(":", ignoresHangUp: true)
        command.hangUp()
        let gate = try RunningCommand(["-c", "echo > '\(directory.path(of: "gate"))'"], executable: "/bin/sh")
        #expect(try command.process.wait() == .exited(code: 0))
        #expect(try lines(1) == ["went on"])
        withExtendedLifetime(gate) {}
    }

    @Test("a script without #! is run by sh, by its path and by PATH, with its arguments")
    func runsScripts() throws {
        let script = try directory.write(#"echo "ran $1, $2 in $0""#, to: "job")
        #expect(unsafe chmod(script, 0o700) == 0)
        for name in [script, "job"] {
            let run = try RunningCommand(
                ["run", "tea", "1us", "-q", "--", name, "a b", "é"],
                environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "PATH": "\(directory.path):/usr/bin:/bin"]
            )
            #expect(try run.finish().standardOutput == "ran a b, é in \(script)\n")
        }
        #expect(unsafe chmod(script, 0o600) == 0)
        #expect(try typist.type(words: ["run", "tea", "1us", "-q", "--", script]).exitCode == 126)
    }

    @Test("a command that takes longer than its cooldown does not overlap, and the key is free after it")
    func doesNotOverlap() throws {
        let first = try hold("tea 100ms")
        try prepare("start other 100ms --wait")
        let second = try typist.type("run tea 100ms -- echo two")
        #expect(second.standardOutput.isEmpty && second.exitCode == 75)
        #expect(try release(first).exitCode == 0)
        #expect(try shown("state", of: "tea") == "finished")
        #expect(try typist.type("run tea 1h -- echo three").standardOutput == "three\n")
    }

    @Test("the cooldown counts from the start of the command, with --from end from its exit")
    func countsFrom() throws {
        try prepare("run tea 20s -- true")
        #expect(try extent(of: "tea") == 20_000_000)
        let run = try hold("milk 1h --from end")
        try prepare("start other 100ms --wait")
        #expect(try release(run).exitCode == 0)
        #expect(try extent(of: "milk") > 3_600_100_000)
    }

    @Test("when countdownctl is killed, the countdown ends by itself after one hold")
    func isKilled() throws {
        let run = try hold("tea 1s")
        run.process.send(signal: SIGKILL)
        _ = try release(run)
        #expect(try shown("state", of: "tea") == "running")
        #expect(try extent(of: "tea") == 30_000_000)
    }

    @Test(
        "a countdown that somebody ends or starts again meanwhile is left alone, and that is said unless it is quiet",
        arguments: [
            ("finish tea", "tea: finished while the command was running; its end was not moved"),
            ("start tea 2h --restart", "tea: started again by another program; its end was not moved"),
        ],
        ["", "-q"]
    )
    func leavesLost(change: (String, String), option: String) throws {
        let run = try hold("tea 1s \(option)")
        try prepare(change.0)
        let before = try number("revision", of: "tea")
        let ended = try release(run)
        #expect(ended.exitCode == 0)
        #expect(ended.messages == (option.isEmpty ? [change.1] : []))
        #expect(try number("revision", of: "tea") == before)
    }

    @Test("a daemon that is started again while the command runs does not matter")
    func outlivesDaemon() throws {
        let run = try hold("tea 20s")
        try restartDaemon()
        let ended = try release(run)
        #expect(ended.exitCode == 0 && ended.standardError.isEmpty)
        #expect(try extent(of: "tea") == 20_000_000)
    }

    @Test("without a daemon at the exit the command's code is returned, and the cooldown that stays is reported")
    func losesDaemon() throws {
        let run = try hold("tea 1s")
        try daemon.kill()
        let ended = try release(run)
        #expect(ended.exitCode == 0)
        let message = "countdownctl: tea: the countdown may be unchanged after the command: no daemon at "
        #expect(ended.message.hasPrefix(message))
    }

    @Test("a failed command gives its time of the rate back though others use the key meanwhile")
    func givesTimeBack() throws {
        let run = try hold("codes --rate 3/1h", "echo ready; read line; exit 1")
        try prepare("run codes --rate 3/1h -- true")
        #expect(try release(run).exitCode == 1)
        #expect(try number("durationUSec", of: "codes") == 1_200_000_000)
        #expect(try shown("state", of: "codes") == "running")
    }

    @Test("--wait queues until the command that holds the key has ended")
    func queues() throws {
        let first = try hold("tea 1s")
        let second = try typist.begin("run tea 1s --wait -- echo second")
        try awaitQueue(1)
        let third = try typist.begin("run tea 1s --wait --queue-timeout 1h -- echo third")
        try awaitQueue(2)
        #expect(try release(first).exitCode == 0)
        let run = try second.finish()
        #expect(run.standardOutput == "second\n" && run.exitCode == 0)
        #expect(try third.finish().standardOutput == "third\n")
    }

    @Test("Ctrl-C ends --wait")
    func stopsQueueing() throws {
        try prepare("start tea 1h")
        let interrupted = try typist.begin("run tea 1s --wait -- echo ran")
        try awaitQueue(1)
        #expect(try interrupted.stop().exitCode == 130)
        try awaitQueue(0)
    }

    @Test(
        "--on-lost sends its signal as soon as another program ends the countdown or starts it again",
        arguments: ["cancel tea", "start tea 2h --restart"]
    )
    func signalsLoss(line: String) throws {
        let script = "trap 'exit 9' USR1; echo ready; while :; do sleep 0.01; done"
        let run = try hold("tea 1d --on-lost USR1", script)
        try prepare("adjust tea +1m", line)
        let ended = try run.finish()
        #expect(ended.exitCode == 9)
        #expect(ended.messages.last == "countdownctl: tea: the hold is lost; the command gets signal 10")
    }

    @Test("--wait recognizes its own start if the daemon started it and the reply was lost")
    func recognizesOwnStart() throws {
        func found(_ run: some StringProtocol) -> String {
            let metadata = #""metadata":{"run":"\#(run)"},"#
            let tea = Answer.countdown("tea", seconds: 3_600, revision: 1, more: metadata)
            return #"{"parameters":{"countdown":\#(tea)}}"#
        }
        let other = try ScriptedDaemon()
        let run = try other.typist.begin("run tea 1h --wait -- echo ran")
        let call = try other.accept().nextMessage()
        let token = try #require(call?.firstMatch(of: /"run":"([0-9a-f]+)"/)?.1)
        let client = try other.answer("io.countdownd.Get", found(token))
        #expect(try run.line() == "ran")
        withExtendedLifetime(client) {}
        #expect(try run.finish().exitCode == 0)
        // The start of another caller is waited for.
        let queued = try other.typist.begin("run tea 1h --wait -- echo ran")
        #expect(try other.accept().nextMessage()?.contains("io.countdownd.Start") == true)
        let third = try other.answer("io.countdownd.Get", found("other"))
        let ended = try queued.stop()
        #expect(ended.exitCode == 130 && ended.standardOutput.isEmpty)
        withExtendedLifetime(third) {}
    }

    @Test("--wait queues again when the daemon is started again")
    func queuesAgain() throws {
        try prepare("start tea 1h")
        let run = try typist.begin("run tea 1s --wait -- echo ran")
        try awaitQueue(1)
        try restartDaemon()
        try awaitQueue(1)
        try prepare("cancel tea")
        let ended = try run.finish()
        #expect(ended.standardOutput == "ran\n")
        #expect(ended.messages == ["lost the connection to the daemon; reconnecting"])
    }

    @Test("the wait of --backoff is kept if the daemon is away when the command fails, or stays away")
    func keepsWait() throws {
        let fifo = directory.path(of: "fifo")
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let script = "echo begun; read -r line < \"\(fifo)\"; exit 1"
        for wait in ["2h", "4h"] {
            let words = ["run", "mirror", "2h", "--backoff", "9h", "--", "/bin/sh", "-c", script]
            let run = try begin(words)
            #expect(try run.line() == "begun")
            try daemon.kill()
            let writing = unsafe open(fifo, O_RDWR)
            _ = unsafe write(writing, "\n", 1)
            if wait == "4h" { run.process.send(signal: SIGKILL) }
            try restartDaemon()
            #expect(try run.finish().exitCode == (wait == "4h" ? nil : 1))
            close(writing)
            #expect(try typist.type("show mirror --json").standardOutput.contains(#""backoff":"\#(wait)""#))
            try prepare("finish mirror")
        }
    }

    @Test("of many at once one runs")
    func runsOneOfMany() throws {
        let all = try (0..<6).map { _ in try typist.begin("run tea 1h -- echo ran") }
        let runs = try all.map { try $0.finish() }
        #expect(runs.map(\.standardOutput).joined() == "ran\n")
        #expect(runs.count { $0.exitCode == 75 } == 5)
    }
}
