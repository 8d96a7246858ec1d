import ArgumentParser
import IPC

struct AttachCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "attach",
        abstract: "Follow a countdown until it ends.",
        usage: "countdownctl attach KEY [options]",
        discussion: """
            Examples:
              countdownctl attach tea
              countdownctl attach tea && play gong.wav
              countdownctl attach tea --json

            Exit code 0 if it finished, 3 if it was cancelled, 4 if there is no such
            countdown. Ctrl-C stops following; the countdown keeps running.
            """
    )

    @OptionGroup var argument: KeyArgument
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let output = options.output
        let daemon = try DaemonEndpoint()
        var ends = WaitLoop(
            [try daemon.key(of: argument.required(by: "attach"))],
            of: daemon,
            output: output,
            showing: try output.watchOutput(of: daemon, .one)
        )
        return try ends.run()
    }
}
