import ArgumentParser
import IPC
import System

struct WaitCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "wait",
        abstract: "Wait until countdowns end.",
        usage: "countdownctl wait KEY... [--any] [--timeout DURATION] [options]",
        discussion: """
            Examples:
              countdownctl wait tea && play gong.wav
              countdownctl wait tea coffee --any
              countdownctl wait tea --timeout 10m

            Exit code 0 if all finished, 3 if one was cancelled, 4 if there is no such
            countdown, 124 if --timeout expired. If a countdown is paused, restarted or
            extended, the wait takes longer.
            """
    )

    @OptionGroup var arguments: KeyArguments

    @Flag(help: "Wait only for the first end.")
    var any = false

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout: String?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let words = try arguments.required(by: "wait")
        let timeout = try timeout.map { text throws(CommandFailure) in try DurationParser.read(text) }
        let output = options.output
        let watchOutput = try WatchOutput(EndPrinter(output: output))
        let daemon = try DaemonEndpoint()
        let keys = try words.map { word throws(CommandFailure) in try daemon.key(of: word) }
        var ends = WaitLoop(keys, of: daemon, output: output, showing: watchOutput)
        return try ends.run(tick: 0, any: any, until: timeout.map { .after(microseconds: $0) })
    }
}
