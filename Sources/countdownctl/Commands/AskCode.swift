import ArgumentParser
import CountdownControls
import Glibc
import IPC
import System
import Text

struct AskCodeCommand: Subcommand {
    /// The longest line that is read.
    private static let longestLine = 4_096

    static var name: CommandName { .askCode }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Ask for a code with one box for each character, and print it.",
        usage: "countdownctl ask-code [--length N] [--key KEY --resend COMMAND] [options]",
        discussion: """
            Examples:
              code=$(countdownctl ask-code)
              code=$(countdownctl ask-code --length 6 --timeout 5m)
              code=$(countdownctl ask-code --key login/+8613800138000 \\
                --resend 'send-code +8613800138000' --for 30s)

            Only the code goes to standard output; the boxes are drawn on the terminal. A
            complete code is accepted at once, or with --confirm when Enter is pressed. If
            a message is pasted, the code in it is used, such as 482-913: the only number
            with that many digits, or the one nearest to a word such as "code". If there
            is none, or it is not clear, the code is typed.

            With --key a button stands beside the boxes; press it with Tab and Enter or a
            click. It runs the command of --resend with `sh -c` and then counts down like
            `countdownctl button`. If standard input is not a terminal, one line is read
            from it.

            Exit code 124 if --timeout expired, 130 after Ctrl-C; nothing is printed then.
            """
    )

    @Option(help: ArgumentHelp("The number of characters.", valueName: "number"))
    var length = 4

    @Flag(help: "The characters of the code. (default: --digits)")
    var alphabet = AlphabetChoice.digits

    @Option(help: ArgumentHelp("The columns between two boxes.", valueName: "number"))
    var spacing = 2

    @Flag(help: "Show dots instead of the characters.")
    var hidden = false

    @Flag(help: "Accept a complete code only when Enter is pressed.")
    var confirm = false

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout: String?

    @Option(help: ArgumentHelp("Show a button with this countdown.", valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("The shell command that the button runs.", valueName: "command"))
    var resend: String?

    @Option(help: ArgumentHelp("The title of the button.", valueName: "text"))
    var title = "Resend"

    @OptionGroup var options: ButtonOptions

    @Option(help: ColorChoice.help, completion: ColorChoice.completion, transform: ColorChoice.init(typed:))
    var color = ColorChoice.auto

    func perform() throws -> ExitCode {
        guard 1...32 ~= length else { throw CommandFailure.usage("invalid --length '\(length)': use 1 to 32") }
        guard 0...20 ~= spacing else { throw CommandFailure.usage("invalid --spacing '\(spacing)': use 0 to 20") }
        let button = try button()
        let timeout = try timeout.map(DurationParser.read)
        let deadline = timeout.map { MonotonicDeadline.after(microseconds: $0) }
        let input = CodeField(length: length, spacing: spacing, alphabet: alphabet.alphabet)
        let modes = button == nil ? TerminalModes.text : .all
        guard StandardStream.input.isTerminal, let device = TerminalDevice.ofSession(modes) else {
            return try readLine(input, until: deadline)
        }
        let screen = CodeScreen(input, button: button, isHidden: hidden, confirms: confirm)
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

    /// Reads a line of standard input, and prints the code in it.
    private func readLine(_ field: CodeField, until deadline: MonotonicDeadline?) throws -> ExitCode {
        if StandardStream.input.isTerminal {
            guard !hidden else { throw CommandFailure.usage("this terminal cannot hide a code") }
            try StandardStream.error.write(Array("code (\(length) characters): ".utf8))
        }
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n"), line.count < Self.longestLine {
            var set = PollSet()
            let place = set.add(STDIN_FILENO)
            set.add(deadline)
            set.wait()
            guard set.isReady(place) else {
                if deadline?.hasPassed == true { return .timedOut }
                continue
            }
            // One byte at a time: input after the line is left for the next program.
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { break }
            if count > 0 { line.append(byte) }
        }
        var field = field
        field.paste(String(decoding: line, as: UTF8.self))
        guard let code = field.code else {
            let kind = alphabet == .digits ? "digits" : "letters and digits"
            throw CommandFailure.usage("the input has no code of \(length) \(kind)")
        }
        try StandardStream.output.write(Array("\(code)\n".utf8))
        return .success
    }

    private func button() throws(CommandFailure) -> CommandButton? {
        switch (key, resend) {
        case (nil, nil): return nil
        case (let key?, let resend?):
            return try options.button(key: key, title: title, counting: "Resend in {s} s", command: .line(resend))
        case (nil, _): throw .usage("--resend needs --key")
        case (_, nil): throw .usage("--key needs --resend")
        }
    }
}

enum AlphabetChoice: String, EnumerableFlag {
    case digits
    case alphanumeric

    static func help(for value: AlphabetChoice) -> ArgumentHelp? {
        switch value {
        case .digits: "The code consists of digits."
        case .alphanumeric: "The code consists of letters and digits."
        }
    }

    /// The same in the terms of the input.
    var alphabet: CodeField.Alphabet { self == .digits ? .digits : .alphanumeric }
}
