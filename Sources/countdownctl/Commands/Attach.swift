import ArgumentParser
import IPC

struct AttachCommand: Subcommand {
    static var names: [String] { ["attach"] }

    static let configuration = CommandConfiguration(
        names: names,
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
        let daemon = try DaemonEndpoint()
        let key = try daemon.key(of: argument.required(by: "attach"))
        return try StayChoice.attach.follow(key, of: daemon, options.output)
    }
}
