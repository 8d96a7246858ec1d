import ArgumentParser

/// Whose daemon is meant, where it is that of another machine: for help and completion alone, as `RemoteInvocation` takes
/// the option away before a verb is read.
struct HostOption: ParsableArguments {
    /// The names in the configuration of ssh, patterns apart.
    private static let names = CompletionKind.shellCommand(
        "sed -n 's/^ *[Hh]ost[ =]*//p' ~/.ssh/config 2> /dev/null | tr ' ' '\\n' | grep '^[A-Za-z0-9._-]*$'"
    )

    @Option(
        help: ArgumentHelp("The daemon of that machine, by ssh: alice@example.org.", valueName: "host"),
        completion: names
    )
    var host: String?
}
