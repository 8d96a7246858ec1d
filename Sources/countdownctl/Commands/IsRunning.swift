import ArgumentParser
import IPC

struct IsRunningCommand: KeySubcommand {
    static var name: CommandName { .isRunning }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Check whether a countdown is running; the exit code is the answer.",
        usage: "countdownctl is-running KEY [options]",
        discussion: """
            Examples:
              countdownctl is-running tea && echo "not yet"
              countdownctl is-running backup || echo "no backup is running"

            Prints nothing. Exit code 0 if it is running, 3 if it is paused or has ended,
            4 if there is no such countdown. Any other code, with a message, means that it
            is not known.
            """
    )

    @Argument(help: KeyHelp.word, completion: KeyCompletion.existing)
    var word: String?

    @Option(help: KeyHelp.literal)
    var key: String?

    @OptionGroup var messages: MessageOptions

    func perform() throws -> ExitCode {
        let word = try requiredKey()
        let daemon = try DaemonEndpoint()
        do {
            let countdown = try daemon.call(Get(key: daemon.key(of: word))).countdown
            return countdown.state == .running ? .success : .notRunning
        } catch  where error.exitCode == .unknownKey {
            return error.exitCode
        }
    }
}
