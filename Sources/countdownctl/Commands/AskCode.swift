import ArgumentParser
import IPC
import System

struct AskCodeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "ask-code",
        abstract: "Ask for a code, box by box, and print it.",
        usage: "countdownctl ask-code [--length N] [--key KEY --resend COMMAND] [options]",
        discussion: """
            Examples:
              code=$(countdownctl ask-code)
              code=$(countdownctl ask-code --length 6 --timeout 5m)
              code=$(countdownctl ask-code --key login/+8613800138000 \\
                --resend 'send-code +8613800138000' --for 30s)

            The code alone goes to standard output; the boxes are drawn on the terminal. A
            full code is taken at once, with --confirm it can be mended until Enter. Of a
            pasted text the one run of digits that is as long as the code is taken, else
            the last characters that fit.

            With --key there is a button beside the boxes, which tab and enter or a click
            press: it runs the command of --resend by `sh -c` and counts as that of
            `countdownctl button` does, and is where its countdown is whenever it is shown.
            Without a terminal on standard input a line is read from there.

            124 where the time passed before, 130 with Ctrl-C; nothing is printed then.
            """
    )

    @Option(help: ArgumentHelp("How many characters the code has.", valueName: "number"))
    var length = 4

    @Flag(help: "What the code is made of. (default: --digits)")
    var alphabet = AlphabetChoice.digits

    @Option(help: ArgumentHelp("How many columns are between two boxes.", valueName: "number"))
    var spacing = 2

    @Flag(help: "Show dots for what is typed.")
    var hidden = false

    @Flag(help: "Take a full code on Enter only.")
    var confirm = false

    @Option(help: ArgumentHelp("Wait no longer than this.", valueName: "duration"))
    var timeout: String?

    @Option(help: ArgumentHelp("The countdown of a button that has it sent again.", valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("What the button runs, a line for sh(1).", valueName: "command"))
    var resend: String?

    @Option(help: ArgumentHelp("What stands on the button.", valueName: "text"))
    var title = "Resend"

    @OptionGroup var options: ButtonOptions

    @Option(help: ArgumentHelp("Colour what is drawn; NO_COLOR is kept.", valueName: "when"))
    var color = ColorChoice.auto

    func perform() throws -> ExitCode {
        guard 1...32 ~= length else { throw CommandFailure.usage("a code has 1 to 32 characters, not \(length)") }
        guard 0...20 ~= spacing else { throw CommandFailure.usage("--spacing is 0 to 20 columns, not \(spacing)") }
        let button = try button()
        let timeout = try timeout.map { text throws(CommandFailure) in try DurationParser.read(text) }
        let deadline = timeout.map { Client.Deadline.after(microseconds: $0) }
        let input = CodeInput(length: length, alphabet: alphabet.alphabet)
        let modes: TerminalModes = button == nil ? [.paste, .focus] : [.paste, .focus, .mouse]
        guard StandardStream.input.isTerminal, let device = TerminalDevice(ofSession: modes) else {
            return try CodeLine(input: input, isHidden: hidden).read(until: deadline)
        }
        let screen = CodeScreen(input, button: button, spacing: spacing, isHidden: hidden, confirms: confirm)
        let palette = Palette(isColoured: color.allows(isTerminal: true, environment: Environment.value))
        let session = try TerminalSession(
            screen,
            on: device,
            of: button == nil ? nil : DaemonEndpoint(),
            palette: palette
        )
        let status = try session.run(watching: key, until: deadline)
        guard status == .success, let code = session.screen.input.code else { return status }
        try StandardStream.output.write(Array("\(code)\n".utf8))
        return .success
    }

    private func button() throws(CommandFailure) -> CountdownButton? {
        switch (key, resend) {
        case (nil, nil): return nil
        case (let key?, let resend?):
            return try options.button(key: key, title: title, counting: "Resend in {s} s", command: .line(resend))
        case (nil, _): throw .usage("--resend needs --key, under which its countdown runs")
        case (_, nil): throw .usage("--key needs --resend, a command that has the code sent again")
        }
    }
}

/// What a code is made of.
enum AlphabetChoice: String, EnumerableFlag {
    case digits
    case alphanumeric

    static func help(for value: AlphabetChoice) -> ArgumentHelp? {
        switch value {
        case .digits: "The code is made of digits."
        case .alphanumeric: "The code is made of letters and digits."
        }
    }

    /// The same in the terms of the input.
    var alphabet: CodeInput.Alphabet { self == .digits ? .digits : .alphanumeric }
}
