import ArgumentParser
import IPC

/// How a verb prints; every verb that prints data has these. Those of `MessageOptions` are among them as they are, as an
/// option group in an option group would add 8 % to the instructions of the whole program.
struct OutputOptions: ParsableArguments {
    // The option alone is given its value by `TypedArguments`: ArgumentParser's own way to do without one passes over
    // values that it does not know.
    @Option(
        help: ArgumentHelp(
            "Print the objects of the interface io.countdownd as JSON: --json, or --json=pretty.",
            valueName: "short|pretty"
        )
    )
    var json: JSONStyle?

    @Option(help: ArgumentHelp("Colour what is printed; NO_COLOR is kept.", valueName: "when"))
    var color = ColorChoice.auto

    @Flag(name: .shortAndLong, help: MessageOptions.quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    /// What the options ask for.
    var output: Output {
        Output(
            isQuiet: quiet,
            json: json,
            palette: Palette(
                isColoured: color.allows(
                    isTerminal: StandardStream.output.isTerminal,
                    environment: Environment.value
                )
            )
        )
    }
}

/// What a verb says that prints no data, and where.
struct MessageOptions: ParsableArguments {
    static let quietHelp: ArgumentHelp = "Say nothing but what is wrong."

    @Flag(name: .shortAndLong, help: quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?
}

extension JSONStyle: ExpressibleByArgument {}

/// When to colour.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal that can, unless NO_COLOR is set.
    case auto
    case always
    case never

    func allows(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && environment("NO_COLOR") == nil && environment("TERM") != "dumb"
        }
    }
}
