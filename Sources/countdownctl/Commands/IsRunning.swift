import ArgumentParser
import IPC

struct IsRunningCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "is-running",
        abstract: "Tell by the exit code whether a countdown runs, and print nothing.",
        usage: "countdownctl is-running KEY [options]",
        discussion: """
            Examples:
              countdownctl is-running tea && echo "not yet"
              countdownctl is-running backup || echo "nothing is backed up now"

            0 where it runs, 3 where it is paused or has ended, 4 where none is known under
            the key.
            """
    )

    @OptionGroup var argument: KeyArgument
    @OptionGroup var messages: MessageOptions

    func perform() throws -> ExitCode {
        let key = try argument.required(by: "is-running")
        do {
            let countdown = try DaemonEndpoint().call(Get(key: key)).countdown
            return countdown.state == .running ? .success : .notRunning
        } catch  where error.exitCode == .unknownKey {
            return error.exitCode
        }
    }
}
