import Foundation
import TestSupport
import Testing

/// Every exit code that the help lists, provoked.
@Suite("The exit codes of countdownctl")
final class ExitCodeTests: CommandSuite {
    /// How each exit code is provoked.
    private enum Provocation {
        /// The exit code of the last of some command lines, run one after the other.
        case lines([String])
        /// A line for a shell.
        case shell(String)
        /// A command line that is run without a daemon.
        case nobody(String)
        /// A reply of a daemon.
        case answer(String)
        /// Ctrl-C while a command runs.
        case interrupted(String)
    }

    private static let provocations: [Int32: Provocation] = [
        0: .lines(["start tea 1h", "is-running tea"]),
        3: .lines(["start tea 1h", "pause tea", "is-running tea"]),
        4: .lines(["show tea"]),
        64: .lines(["start tea 1h30"]),
        69: .nobody("list"),
        70: .shell("ulimit -n 4; countdownctl wait tea"),
        74: .answer(#"{"error":"io.countdownd.StorageFailed","parameters":{"reason":"disk full"}}"#),
        75: .lines(["start tea 1h", "start tea --fail"]),
        76: .answer("tea"),
        77: .answer(#"{"error":"org.varlink.service.PermissionDenied"}"#),
        79: .answer(#"{"error":"io.countdownd.Unreachable","parameters":{"reason":"silent for 2 s"}}"#),
        124: .lines(["start tea 1h", "wait tea --timeout 10ms"]),
        126: .lines(["run tea -- /etc/passwd"]),
        127: .lines(["run tea -- /nowhere/to/be/found"]),
        130: .interrupted("attach tea"),
    ]

    private func run(_ provocation: Provocation) throws -> CommandRun {
        switch provocation {
        case .lines(let lines):
            for line in lines.dropLast() { try prepare(line) }
            return try typist.type(#require(lines.last))
        case .shell(let line): return try typist.type(shell: line)
        case .nobody(let line): return try Typist(at: directory.path(of: "none")).type(line)
        case .answer(let message):
            let daemon = try ScriptedDaemon()
            let command = try daemon.typist.begin("start tea")
            try daemon.answer("Start", message)
            return try command.finish()
        case .interrupted(let line):
            try prepare("start tea 1h")
            let command = try typist.begin(line)
            try typist.awaitWatchers(1)
            return try command.stop()
        }
    }

    @Test("each is provoked", arguments: provocations.keys.sorted())
    func provokes(_ code: Int32) throws {
        let run = try run(#require(Self.provocations[code]))
        #expect(run.exitCode == code)
        // A command that succeeds, `is-running`, and a wait that was over at once have no reason to print.
        #expect([0, 3, 124].contains(code) || !run.standardError.isEmpty)
    }

    @Test("the help lists these and no others")
    func lists() throws {
        let help = try Typist(at: "").type("--help").standardOutput
        let listed = help.matches(of: #/(?m)^ +([0-9]+)  [a-zC]/#).compactMap { Int32($0.1) }
        #expect(listed == Self.provocations.keys.sorted())
    }
}
