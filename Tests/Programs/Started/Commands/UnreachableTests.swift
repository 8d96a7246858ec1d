import TestSupport
import Testing

/// A daemon of a fleet that cannot say whether a change was made.
@Suite("Commands that are answered with Unreachable")
struct UnreachableTests {
    private static let unconfirmed = "the fleet did not answer, so a change may have been made: silent for 2 s"

    private let daemon: ScriptedDaemon

    init() throws { daemon = try ScriptedDaemon() }

    @Test(
        "the code is 79, and the error says that a change may have been made; run does not run its command",
        arguments: [
            ("start tea 5m", "Start"), ("start tea 5m --fail", "Start"), ("start tea 5m --queue", "Start"),
            ("start tea --rate 3/10m", "Start"), ("adjust tea +1m", "Adjust"), ("run tea 5m -- echo sent", "Start"),
            ("run tea 5m -E 0 -- echo sent", "Start"), ("run tea 5m -q -- echo sent", "Start"),
            ("run tea --rate 3/10m -- echo sent", "Start"), ("run tea 5m --wait -- echo sent", "Start"),
        ]
    )
    func exits(_ line: String, _ method: String) throws {
        try expect(line, method, 79, Self.unconfirmed)
    }

    @Test(
        "a command that changes nothing says that the countdowns are not known",
        arguments: [
            ("show tea", "Get"), ("is-running tea", "Get"), ("list", "List"), ("start tea 5m --wait", "Watch"),
        ]
    )
    func reads(_ line: String, _ method: String) throws {
        try expect(line, method, 75, "the countdowns of the fleet are not known here: silent for 2 s")
    }

    @Test(
        "a command that only watches says that the countdowns are not known, and waits",
        arguments: ["watch", "wait tea"]
    )
    func waits(_ line: String) throws {
        let command = try daemon.typist.begin(line)
        for _ in 1...2 { try daemon.answer("Watch", Answer.unreachable) }
        command.interrupt()
        let run = try command.finish()
        #expect(run.messages == ["the countdowns of the fleet are not known here: silent for 2 s; waiting"])
        #expect(run.exitCode == 130)
    }

    private func expect(_ line: String, _ method: String, _ code: Int32, _ sentence: String) throws {
        let command = try daemon.typist.begin(line)
        try daemon.answer(#""io.countdownd.\#(method)""#, Answer.unreachable)
        let run = try command.finish()
        #expect(run.messages == ["countdownctl: \(sentence)"])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == code)
    }

    @Test(
        "a change of several keys names the one, and makes the others",
        arguments: [("cancel", "Cancel"), ("finish", "Finish"), ("pause", "Pause"), ("resume", "Resume")]
    )
    func names(_ verb: String, _ method: String) throws {
        let command = try daemon.typist.begin("\(verb) tea egg")
        // Whether the words are the label of a timer.
        let client = try daemon.answer("List", Answer.none)
        try daemon.answer(method, of: client, Answer.unreachable)
        try daemon.answer(method, of: client, Answer.error("NoSuchCountdown", #""key":"egg""#))
        for _ in 1...2 { try daemon.answer("List", of: client, Answer.unreachable) }
        let run = try command.finish()
        #expect(run.messages == ["countdownctl: tea: \(Self.unconfirmed)", "countdownctl: egg: no such countdown"])
        #expect(run.exitCode == 79)
    }

    @Test("if the last change after a command is not confirmed, the countdown is looked up before it is changed again")
    func looksUp() throws {
        func tea(_ seconds: Int, revision: Int) -> String {
            #""countdown":\#(Answer.countdown("tea", seconds: seconds, revision: revision))"#
        }
        let command = try daemon.typist.begin("run tea 1h --from end -- true")
        try daemon.answer("Start", #"{"parameters":{"outcome":"started",\#(tea(3_600, revision: 1))}}"#)
        try daemon.answer("Adjust", Answer.unreachable)
        try daemon.answer("Get", #"{"parameters":{\#(tea(3_600, revision: 1))}}"#)
        try daemon.answer("Adjust", #"{"parameters":{\#(tea(3_601, revision: 2))}}"#)
        let run = try command.finish()
        #expect(run.standardError.isEmpty)
        #expect(run.exitCode == 0)
    }

    @Test("a watch that had begun tries again")
    func watchesAgain() throws {
        let watch = try daemon.typist.begin("watch --json")
        try daemon.answer("Watch", Answer.events(Answer.synced(7)))
        #expect(try watch.line() == Answer.synced(7))
        try daemon.answer("Watch", Answer.unreachable)
        let third = try daemon.answer(#""since":7"#, Answer.events(Answer.synced(7)))
        #expect(try watch.line() == Answer.synced(7))
        let messages = ["lost the connection to the daemon; reconnecting", "reconnected to the daemon"]
        #expect(try watch.stop().messages == messages)
        withExtendedLifetime(third) {}
    }
}
