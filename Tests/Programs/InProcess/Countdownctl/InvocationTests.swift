import ArgumentParser
import Testing

@testable import countdownctl

@Suite("The end of a run")
struct InvocationTests {
    private func help(_ arguments: [String]) -> ShortHelp? {
        ShortHelp(arguments, of: Countdownctl.configuration)
    }

    /// An error that the program does not expect.
    private struct Unforeseen: Error {}

    @Test("a reader that has gone is not an error, and an unexpected error is an internal fault")
    func codes() {
        let run = Invocation(arguments: [])
        #expect(run.end(with: StreamFailure.closed) == .success)
        #expect(run.end(with: Unforeseen()) == .internalFault)
        #expect(run.end(with: CommandFailure(.denied, "no")) == .denied)
    }

    @Test("the help of -h fits on a screen, and names every command")
    func shortHelp() throws {
        let names = Countdownctl.configuration.subcommands.compactMap { $0.configuration.commandName }
        for arguments in [[], ["-h"]] + names.map({ [$0, "-h"] }) {
            let lines = try #require(help(arguments)).text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 24, "\(arguments)")
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= 79 }, "\(arguments)")
        }
        let text = try #require(help(["-h"])).text
        for name in names where name != "undo-service" { #expect(text.contains(name)) }
        let beginning = try #require(help([])).text
        #expect(beginning.split(separator: "\n").count { $0.hasPrefix("  countdownctl ") } == 3)
        #expect(help(["run", "tea", "1m", "--", "ls", "-h"]) == nil && help(["--help"]) == nil)
    }

    @Test("no line of the help is wider than 79 columns")
    func helpLines() {
        for command in [Countdownctl.configuration] + Countdownctl.configuration.subcommands.map({ $0.configuration }) {
            let wide = command.discussion.split(separator: "\n").filter { DisplayWidth.of($0) > 79 }
            #expect(wide.isEmpty, "\(command.commandName ?? "")")
        }
    }
}
