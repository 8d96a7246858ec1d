import ArgumentParser
import IPC
import System

struct ButtonCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "button",
        abstract: "Draw a button that runs a command and then counts down.",
        usage: "countdownctl button KEY [--title TEXT] [--for DURATION] [options] [-- COMMAND...]",
        discussion: """
            Examples:
              countdownctl button login/+8613800138000 -- send-code +8613800138000
              countdownctl button login --title 'Get code' --again Resend --for 30s \\
                --counting '({ss}) Resend' --sent 'Sent, again in {s} s' -- send-code
              countdownctl button login --once -- send-code && read -r code

            Enter, space or a click presses it. The command is run without a shell. When
            it has succeeded the button counts, shows the seconds, and takes no presses;
            then it can be pressed again. A command that fails leaves no countdown. Left
            and opened again, on another terminal too, the button is where its countdown
            is; another --for holds from the next press on.

            0 where it is left with q, 130 with Ctrl-C; with --once 130 where it is left
            before it counts.
            """
    )

    @OptionGroup var argument: KeyArgument
    @OptionGroup var options: ButtonOptions

    @Option(help: "What stands on it.")
    var title = "Get code"

    @Flag(help: "Leave as soon as it counts.")
    var once = false

    @Option(help: ArgumentHelp("Colour what is drawn; NO_COLOR is kept.", valueName: "when"))
    var color = ColorChoice.auto

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("What a press runs, behind --.", valueName: "command")
    )
    var command: [String] = []

    func perform() throws -> ExitCode {
        let key = try argument.required(by: "button")
        let button = try options.button(
            key: key,
            title: title,
            counting: "{s} s",
            command: command.isEmpty ? nil : .words(command)
        )
        let daemon = try DaemonEndpoint()
        guard let device = TerminalDevice(ofSession: .mouse) else {
            let start = "`countdownctl start \(ShellWord.quote(key))`"
            throw CommandFailure.usage(
                "a button needs a terminal to be drawn on; \(start) starts a countdown without one"
            )
        }
        let screen = ButtonScreen(button, leavesWhenCounting: once)
        let palette = Palette(isColoured: color.allows(isTerminal: true, environment: Environment.value))
        let session = try TerminalSession(screen, on: device, of: daemon, palette: palette)
        return try session.run(watching: key)
    }
}

/// What a button is given wherever one is drawn.
struct ButtonOptions: ParsableArguments {
    @Option(name: .customLong("for"), help: ArgumentHelp("How long it counts. (default: 60s)", valueName: "duration"))
    var length: String?

    @Option(help: ArgumentHelp("What stands on it while it counts; {s} and {ss} are seconds.", valueName: "format"))
    var counting: String?

    @Option(help: ArgumentHelp("What stands on it after the end. (default: what stood on it)", valueName: "text"))
    var again: String?

    @Option(help: ArgumentHelp("What stands beside it while it counts.", valueName: "format"))
    var sent: String?

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    /// The button that these ask for.
    ///
    /// - Throws: what is wrong with the length.
    func button(
        key: String,
        title: String,
        counting format: String,
        command: ShellCommand?
    ) throws(CommandFailure) -> CountdownButton {
        let length = try length.map { text throws(CommandFailure) in try DurationParser.read(text) }
        if length == 0 { throw .usage("a countdown of no length is none; 1us is the shortest") }
        let titles = CountdownButton.Titles(
            title: title,
            again: again,
            counting: SecondsFormat(counting ?? format),
            sent: sent.map(SecondsFormat.init)
        )
        return CountdownButton(titles, command: command, start: Start(key: key, durationUSec: length ?? 60_000_000))
    }
}
