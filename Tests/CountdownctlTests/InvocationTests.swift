import ArgumentParser
import Testing

@testable import countdownctl

@Suite("What a run ends with")
struct InvocationTests {
    /// An error that nobody thought of.
    private struct Unforeseen: Error {}

    @Test("whoever reads the output may leave, a fault of the program is told as such")
    func codes() {
        let run = Invocation(arguments: [])
        #expect(run.end(with: StreamFailure.closed) == .success)
        #expect(run.end(with: Unforeseen()) == .internalFault)
        #expect(run.end(with: CommandFailure(.denied, "no")) == .denied)
    }

    @Test("the codes are those that are documented")
    func values() {
        let codes: [countdownctl.ExitCode: Int32] = [
            .success: 0, .notRunning: 3, .unknownKey: 4, .usage: 64, .unavailable: 69, .internalFault: 70,
            .notStored: 74, .tryLater: 75, .protocolFault: 76, .denied: 77, .timedOut: 124, .notExecutable: 126,
            .notFound: 127, .interrupted: 130,
        ]
        for (status, code) in codes { #expect(status.rawValue == code) }
    }

    @Test("what the help says at length stands on the lines on which it was written, 79 columns at most")
    func helpLines() {
        for command in [Countdownctl.configuration] + Countdownctl.configuration.subcommands.map({ $0.configuration }) {
            let wide = command.discussion.split(separator: "\n").filter { DisplayWidth.of($0) > 79 }
            #expect(wide.isEmpty, "\(command.commandName ?? "")")
        }
    }
}
