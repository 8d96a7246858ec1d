import ArgumentParser
import IPC
import Text

struct AttachCommand: KeySubcommand {
    static var name: CommandName { .attach }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Follow a countdown until it ends.",
        usage: "countdownctl attach KEY [--tick DURATION] [--plain] [options]",
        discussion: """
            Examples:
              countdownctl attach tea
              countdownctl attach tea && play gong.wav
              countdownctl attach tea --json
              countdownctl attach tea --plain     for a screen reader, or a log

            Exit code 0 if it finished, 3 if it was cancelled, 4 if there is no such
            countdown. Ctrl-C stops following; the countdown keeps running.

            Lines, as with --plain or in a pipe, have the remaining time each minute, each
            10 s in the last minute, and each second in the last ten, or as --tick says.
            """
    )

    @Argument(help: KeyHelp.word, completion: KeyCompletion.existing)
    var word: String?

    @Option(help: KeyHelp.literal)
    var key: String?

    @Option(help: ArgumentHelp("The time between two ticks; 0 for none.", valueName: "duration"))
    var tick: String?

    @Flag(help: "Print lines instead of a picture.")
    var plain = false

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let style = FollowStyle(tick: try tick.map(DurationParser.read), isPlain: plain)
        let daemon = try DaemonEndpoint()
        let key = try daemon.key(of: requiredKey())
        return try StayChoice.attach.follow(key, of: daemon, options.output, style)
    }
}
