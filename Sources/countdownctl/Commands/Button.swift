import ArgumentParser
import CountdownControls
import IPC
import System
import Text

struct ButtonCommand: Subcommand {
    static var name: CommandName { .button }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Draw a button that runs a command and then counts down.",
        usage: "countdownctl button KEY [--title TEXT] [--for DURATION] [options] [-- COMMAND...]",
        discussion: """
            Examples:
              countdownctl button login/+8613800138000 -- send-code +8613800138000
              countdownctl button login --title 'Get code' --again Resend --for 30s \\
                --counting '({ss}) Resend' --sent 'Sent, again in {s} s' -- send-code
              countdownctl button login --once -- send-code && read -r code

            Enter, space or a click presses the button. It runs the command without a
            shell, and holds the key meanwhile as run does: of all buttons with the key,
            one runs its command. If the command succeeds, the button shows the remaining
            seconds and cannot be pressed until the countdown ends. If the command fails,
            the key is given back. If the button is closed and opened again, also on
            another terminal, it continues with the countdown; a new --for applies from
            the next press on.

            Exit code 0 after q, 130 after Ctrl-C. With --once also 130 after q, if no
            countdown has started. While the command runs, both wait for it; signals are
            passed on to it.
            """
    )

    @Argument(help: "The key.", completion: KeyCompletion.any)
    var key: String?

    @OptionGroup var options: ButtonOptions

    @Option(help: "The title.")
    var title = "Get code"

    @Flag(help: "Exit as soon as the countdown starts.")
    var once = false

    @Option(help: ColorChoice.help, completion: ColorChoice.completion, transform: ColorChoice.init(typed:))
    var color = ColorChoice.auto

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The command that a press runs, after --.", valueName: "command")
    )
    var command: [String] = []

    func perform() throws -> ExitCode {
        guard let key = try key.map(newKey) else {
            throw CommandFailure.usage("missing key; for example `countdownctl button tea`")
        }
        let button = try options.button(
            key: key,
            title: title,
            counting: "{s} s",
            command: command.isEmpty ? nil : .words(command)
        )
        let daemon = try DaemonEndpoint()
        guard let device = TerminalDevice.ofSession(.mouse) else {
            let start = "`countdownctl start \(ShellWord.quote(key))`"
            throw CommandFailure.usage("a button needs a terminal; \(start) starts a countdown without one")
        }
        let screen = ButtonScreen(button, leavesWhenCounting: once)
        let palette = Palette(isColoured: color.allows(isTerminal: true, environment: Environment.value))
        let session = try TerminalSession(screen, on: device, of: daemon, palette: palette)
        return try session.run(watching: key)
    }
}

struct ButtonOptions: ParsableArguments {
    @Option(name: .customLong("for"), help: ArgumentHelp("The duration. (default: 60s)", valueName: "duration"))
    var length: String?

    @Option(
        help: ArgumentHelp(
            "The title while it counts; {s} and {ss} are seconds, {time} is like 1:05.",
            valueName: "format"
        )
    )
    var counting: String?

    @Option(help: ArgumentHelp("The title after the end. (default: the first title)", valueName: "text"))
    var again: String?

    @Option(help: ArgumentHelp("A text beside it while it counts, with the same places.", valueName: "format"))
    var sent: String?

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    func button(
        key: String,
        title: String,
        counting format: String,
        command: ShellCommand?
    ) throws(CommandFailure) -> CommandButton {
        let length = try length.map(DurationParser.read)
        if length == 0 { throw .usage("the duration must be at least 1us") }
        let titles = CountdownButton.Titles(
            idle: title,
            counting: RemainingText(counting ?? format),
            again: again,
            sent: sent.map { RemainingText($0) }
        )
        let start = Start(key: key, durationUSec: length ?? 60_000_000, metadata: CooldownMark.metadata)
        return CommandButton(titles, command: command, start: start)
    }
}
