import ArgumentParser
import IPC
import System

struct WaitVerb: Verb {
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

    func perform() throws -> CommandStatus {
        let keys = try arguments.required(by: "wait")
        let timeout = try timeout.map { text throws(Failure) in try DurationText.read(text) }
        let output = options.output
        let follower = try Follower(EndPrinter(output: output))
        var ends = EndWatch(keys, of: try Daemon(), output: output, showing: follower)
        return try ends.run(tick: 0, any: any, until: timeout.map { .after(microseconds: $0) })
    }
}
