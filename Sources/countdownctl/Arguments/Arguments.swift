import ArgumentParser
import IPC
import System

/// A subcommand, which returns an exit code.
protocol Subcommand: ParsableCommand {
    /// Its name, known without its help.
    static var name: CommandName { get }

    /// Throws the usage error of arguments that were parsed, as far as it is known without the daemon.
    func check() throws(CommandFailure)

    /// Does it. Throws a `CommandFailure`, or a `StreamFailure` of standard output.
    func perform() throws -> ExitCode
}

extension Subcommand {
    func check() {}

    /// Whether words are right as its arguments.
    static func accepts(_ words: [String]) -> Bool {
        guard
            let command = try? parseAsRoot(Array(ArgumentNormalizer.normalize([name.rawValue] + words).dropFirst()))
                as? Self
        else { return false }
        return (try? command.check()) != nil
    }
}

extension CommandConfiguration {
    /// A subcommand. ArgumentParser first parses the arguments of a command without a super-command for
    /// `--generate-completion-script`, twice; that took a tenth of the instructions of a short run.
    init(name: CommandName, abstract: String, usage: String, discussion: String, shouldDisplay: Bool = true) {
        self.init(
            commandName: name.rawValue,
            _superCommandName: "countdownctl",
            abstract: abstract,
            usage: usage,
            discussion: discussion,
            shouldDisplay: shouldDisplay,
            aliases: name.aliases
        )
    }
}

/// The output options of every subcommand that prints data. They repeat the options of `MessageOptions`, because an option
/// group in an option group would add 8 % to the instructions of the whole program.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON objects, one a line.")
    var json = false

    @Option(help: ColorChoice.help, completion: ColorChoice.completion, transform: ColorChoice.init(typed:))
    var color = ColorChoice.auto

    @Flag(name: .shortAndLong, help: MessageOptions.quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    var output: Output {
        let isColoured = color.allows(isTerminal: StandardStream.output.isTerminal, environment: Environment.value)
        return Output(isQuiet: quiet, json: json, palette: Palette(isColoured: isColoured))
    }
}

/// The options of subcommands that print no data.
struct MessageOptions: ParsableArguments {
    static let quietHelp: ArgumentHelp = "Print errors only."

    @Flag(name: .shortAndLong, help: quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?
}

/// The value of `--color`. It is read here, because ArgumentParser would take 7 % more instructions of the whole program.
enum ColorChoice: String, CaseIterable {
    /// On a terminal that can, unless NO_COLOR is set.
    case auto
    case always
    case never

    static let help = ArgumentHelp(
        "Use colours: auto, always or never; auto respects NO_COLOR. (default: auto)",
        valueName: "when"
    )
    static let completion = CompletionKind.list(allCases.map(\.rawValue))

    init(typed: String) throws {
        guard let choice = Self(rawValue: typed) else { throw ValidationError("use auto, always or never") }
        self = choice
    }

    func allows(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && environment("NO_COLOR") == nil && TerminalDevice.canObey(environment)
        }
    }
}

/// The option `--host` for the daemon of another machine. Subcommands declare it for help and completion only:
/// `RemoteInvocation` removes it before a subcommand is parsed.
///
/// Each declares it itself: as an option group it would add 8 % to the instructions of the whole program.
enum HostOption {
    static let help = ArgumentHelp("Use the daemon of another machine, over ssh.", valueName: "host")

    /// The names in the configuration of ssh, patterns apart.
    static let completion = CompletionKind.shellCommand(
        "sed -n 's/^ *[Hh]ost[ =]*//p' ~/.ssh/config 2> /dev/null | tr ' ' '\\n' | grep '^[A-Za-z0-9._-]*$'"
    )
}
