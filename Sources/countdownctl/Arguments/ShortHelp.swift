import ArgumentParser

/// The help of `-h`, which fits on a screen of 24 lines; `--help` has everything. Without arguments, what to begin with.
struct ShortHelp: Equatable {
    let text: String

    /// The help of a program or its subcommand. Nil if the arguments do not ask for it; no arguments do.
    init?(_ arguments: [String], of program: @autoclosure () -> CommandConfiguration) {
        guard arguments.isEmpty || arguments.prefix(while: { $0 != "--" }).contains("-h") else { return nil }
        guard let name = arguments.first else {
            text = Self.beginning(of: program())
            return
        }
        guard name != "-h" else {
            text = Self.text(of: program())
            return
        }
        guard let command = Subcommands.named(name) else { return nil }
        text = Self.text(of: command.configuration, named: command.name.rawValue)
    }

    private static let firstCommands = """
          countdownctl 5m Green tea             start a timer
          countdownctl start tea 5m --attach    start a countdown, and follow it
          countdownctl list                     list running and paused countdowns
        """

    private static func beginning(of program: CommandConfiguration) -> String {
        "\(program.abstract)\n\n\(firstCommands)\n\n`countdownctl -h` lists all commands."
    }

    private static func text(of program: CommandConfiguration) -> String {
        let groups = program.groupedSubcommands.map { group in
            let shown = group.subcommands.map { $0.configuration }.filter(\.shouldDisplay)
            let names = shown.compactMap(\.commandName)
            return "  \(padded(group.name))\(names.joined(separator: ", "))"
        }
        return """
            \(program.abstract)

            Usage: countdownctl COMMAND [ARGUMENT]...
                   countdownctl DURATION|TIME [LABEL]...

            \(firstCommands)
              countdownctl wait tea && echo ready   wait until it ends

            \(groups.joined(separator: "\n"))

              \(padded("--host"))HOST, the daemon of another machine, over ssh
              \(padded("-V"))the version

            `countdownctl COMMAND -h` explains a command, and `--help` says everything, as
            countdownctl(1) does.
            """
    }

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(1, 10 - name.count))
    }

    /// A line with line breaks at spaces, so that it fits into 79 columns.
    private static func wrapped(_ line: Substring) -> String {
        var (text, width) = ("", 0)
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
            if width + word.count > 78 { (text, width) = (text + "\n     ", 5) }
            text += (text.isEmpty ? "" : " ") + word
            width += word.count + 1
        }
        return text
    }

    /// The abstract, the usage and the examples, which are the first paragraph of the discussion.
    private static func text(of command: CommandConfiguration, named name: String) -> String {
        let lines = command.discussion.split(separator: "\n", omittingEmptySubsequences: false)
        let examples = lines.prefix { !$0.isEmpty }.joined(separator: "\n")
        return """
            \(command.abstract)

            Usage:
            \((command.usage ?? "").split(separator: "\n").map(wrapped).joined(separator: "\n"))

            \(examples)

            `countdownctl \(name) --help` has the options.
            """
    }
}
