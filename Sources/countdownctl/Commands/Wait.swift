import ArgumentParser
import IPC
import System

struct WaitCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until countdowns have ended.",
        usage: "countdownctl wait KEY... [--any] [--timeout DURATION] [options]",
        discussion: """
            Examples:
              countdownctl wait tea && play gong.wav
              countdownctl wait tea coffee --any
              countdownctl wait tea --timeout 10m

            0 where all finished, 3 where one was cancelled, 4 where none is known under a
            key, 124 where the time passed before. Pauses, restarts and additions prolong
            the wait.
            """
    )

    @OptionGroup var arguments: KeyArguments

    @Flag(help: "Wait until the first one has ended.")
    var any = false

    @Option(help: ArgumentHelp("Wait no longer than this.", valueName: "duration"))
    var timeout: String?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let keys = try arguments.required(by: "wait")
        let timeout = try timeout.map { text throws(CommandFailure) in try DurationParser.read(text) }
        let output = options.output
        let watchOutput = try WatchOutput(EndPrinter(output: output))
        var ends = WaitLoop(keys, of: try DaemonEndpoint(), output: output, showing: watchOutput)
        return try ends.run(tick: 0, any: any, until: timeout.map { .after(microseconds: $0) })
    }
}
