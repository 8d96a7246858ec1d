import Foundation
import TestSupport
import Testing

/// A daemon of a fleet that cannot say whether a change was made.
@Suite("Commands that are answered with Unreachable")
struct UnreachableTests {
    private static let sentence = "the fleet did not answer, so a change may have been made: silent for 2 s"

    private let directory: TemporaryDirectory
    private let daemon: ListeningSocket
    private let typist: Typist

    init() throws {
        directory = try TemporaryDirectory()
        daemon = try ListeningSocket(path: directory.path(of: "socket"))
        typist = Typist(at: daemon.path)
    }

    private let unreachable = #"{"error":"io.countdownd.Unreachable","parameters":{"reason":"silent for 2 s"}}"#

    /// Answers the next call of a connection.
    private func answer(_ connection: RawConnection, _ method: String, with reply: String) throws {
        #expect(try connection.message().contains(#""io.countdownd.\#(method)""#))
        try connection.send(message: reply)
    }

    /// Types a line for a daemon that answers its first call with `Unreachable`.
    private func refuse(_ line: String, _ method: String) throws -> CommandRun {
        let command = try typist.begin(line)
        let connection = try daemon.accept()
        try answer(connection, method, with: unreachable)
        return try command.finish()
    }

    @Test(
        "the code is 79, and the error says that a change may have been made",
        arguments: [
            ("start tea 5m", "Start"), ("start tea 5m --fail", "Start"), ("start tea 5m --queue", "Start"),
            ("start tea --rate 3/10m", "Start"), ("adjust tea +1m", "Adjust"),
        ]
    )
    func exits(_ line: String, _ method: String) throws {
        let run = try refuse(line, method)
        #expect(run.messages == ["countdownctl: \(Self.sentence)"])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 79)
    }

    @Test(
        "a command that changes nothing says that the countdowns are not known",
        arguments: [
            ("show tea", "Get"), ("is-running tea", "Get"), ("list", "List"), ("watch", "Watch"), ("wait tea", "Watch"),
            ("start tea 5m --wait", "Watch"),
        ]
    )
    func reads(_ line: String, _ method: String) throws {
        let run = try refuse(line, method)
        #expect(run.messages == ["countdownctl: the countdowns of the fleet are not known here: silent for 2 s"])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 75)
    }

    @Test(
        "run does not run its command, and exits with 79 whatever -E says",
        arguments: ["run tea 5m", "run tea 5m -E 0", "run tea 5m -q", "run tea --rate 3/10m", "run tea 5m --wait"]
    )
    func runsNothing(_ line: String) throws {
        let run = try refuse("\(line) -- echo sent", "Start")
        #expect(run.messages == ["countdownctl: \(Self.sentence)"])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 79)
    }

    @Test(
        "a change of several keys names the one, and makes the others",
        arguments: [("cancel", "Cancel"), ("finish", "Finish"), ("pause", "Pause"), ("resume", "Resume")]
    )
    func names(_ verb: String, _ method: String) throws {
        let command = try typist.begin("\(verb) tea egg")
        let connection = try daemon.accept()
        // Whether the words are the label of a timer.
        try answer(connection, "List", with: #"{"parameters":{"countdowns":[]}}"#)
        try answer(connection, method, with: unreachable)
        try answer(
            connection,
            method,
            with: #"{"error":"io.countdownd.NoSuchCountdown","parameters":{"key":"egg"}}"#
        )
        for _ in 1...2 { try answer(connection, "List", with: unreachable) }
        let run = try command.finish()
        #expect(run.messages == ["countdownctl: tea: \(Self.sentence)", "countdownctl: egg: no such countdown"])
        #expect(run.exitCode == 79)
    }

    @Test("if the last change after a command is not confirmed, the countdown is looked up before it is changed again")
    func looksUp() throws {
        let command = try typist.begin("run tea 1h --from end -- true")
        try answer(daemon.accept(), "Start", with: #"{"parameters":{"outcome":"started",\#(tea(3_600, revision: 1))}}"#)
        try answer(daemon.accept(), "Adjust", with: unreachable)
        try answer(daemon.accept(), "Get", with: #"{"parameters":{\#(tea(3_600, revision: 1))}}"#)
        try answer(daemon.accept(), "Adjust", with: #"{"parameters":{\#(tea(3_601, revision: 2))}}"#)
        let run = try command.finish()
        #expect(run.standardError.isEmpty)
        #expect(run.exitCode == 0)
    }

    private func tea(_ seconds: Int, revision: Int) -> String {
        #""countdown":{"key":"tea","state":"running","clock":"elapsed","durationUSec":\#(seconds * 1_000_000),"#
            + #""remainingUSec":\#(seconds * 1_000_000),"startedUSec":1,"deadlineUSec":2,"forget":false,"#
            + #""revision":\#(revision)}"#
    }

    @Test("a watch that had begun tries again")
    func watchesAgain() throws {
        let watch = try typist.begin("watch --json")
        try answer(daemon.accept(), "Watch", with: Self.synced)
        #expect(try watch.line() == #"{"type":"synced","revision":7}"#)
        try answer(daemon.accept(), "Watch", with: unreachable)
        let third = try daemon.accept()
        #expect(try third.message().contains(#""since":7"#))
        try third.send(message: Self.synced)
        #expect(try watch.line() == #"{"type":"synced","revision":7}"#)
        watch.interrupt()
        #expect(
            try watch.finish().messages == [
                "lost the connection to the daemon; reconnecting", "reconnected to the daemon",
            ]
        )
    }

    private static let synced = #"{"parameters":{"events":[{"type":"synced","revision":7}]},"continues":true}"#
}
