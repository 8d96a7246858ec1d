import ArgumentParser
import IPC
import System
import Text

struct WaitCommand: Subcommand {
    static var name: CommandName { .wait }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Wait until countdowns end.",
        usage: "countdownctl wait KEY... [--any] [--timeout DURATION] [--missing-ok] [options]",
        discussion: """
            Examples:
              countdownctl wait tea && play gong.wav
              countdownctl wait tea coffee --any
              countdownctl wait tea --timeout 10m
              countdownctl wait api/openai --missing-ok && call-openai

            Exit code 0 if all finished, 3 if one was cancelled, 4 if there is no such
            countdown, 124 if --timeout expired. If a countdown is paused, restarted or
            extended, the wait takes longer.

            With --missing-ok, countdowns that neither run nor are paused count as over: if
            there is no other, the exit code is 0 at once.
            """
    )

    @OptionGroup var arguments: KeyArguments

    @Flag(help: "Wait only for the first end.")
    var any = false

    @Flag(help: "Exit with 0 if there is nothing to wait for.")
    var missingOk = false

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout: String?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let words = try arguments.required(by: "wait")
        let timeout = try timeout.map(DurationParser.read)
        let output = options.output
        let watchOutput = try output.lines(onlyEnds: true)
        let daemon = try DaemonEndpoint()
        var keys: [String] = []
        for word in words {
            do throws(CommandFailure) {
                keys.append(try daemon.key(of: word))
            } catch {
                guard missingOk, error.exitCode == .unknownKey else { throw error }
            }
        }
        if missingOk {
            let live = keys.isEmpty ? [] : try daemon.call(List(keys: keys)).countdowns.map(\.key)
            // With --any, one that is over is enough.
            guard !live.isEmpty, !any || live.count == Set(keys).count else { return .success }
            keys = live
        }
        var ends = WaitLoop(keys, of: daemon, output: output, showing: watchOutput)
        let status = try ends.run(any: any, until: timeout.map { .after(microseconds: $0) })
        return missingOk && status == .unknownKey ? .success : status
    }
}
