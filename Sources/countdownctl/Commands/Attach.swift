import ArgumentParser
import IPC

struct AttachCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Follow a countdown to its end.",
        usage: "countdownctl attach KEY [options]",
        discussion: """
            Examples:
              countdownctl attach tea
              countdownctl attach tea && play gong.wav
              countdownctl attach tea --json

            0 where it finished, 3 where it was cancelled, 4 where none is known. Ctrl-C
            leaves it, and it runs on.
            """
    )

    @OptionGroup var argument: KeyArgument
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let output = options.output
        let daemon = try DaemonEndpoint()
        var ends = WaitLoop(
            [try argument.required(by: "attach")],
            of: daemon,
            output: output,
            showing: try output.watchOutput(of: daemon, .one)
        )
        return try ends.run()
    }
}
