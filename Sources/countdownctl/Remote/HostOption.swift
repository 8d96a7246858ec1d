import ArgumentParser

/// Whose daemon is meant, where it is that of another machine: an option of every verb for help and completion alone, as
/// `RemoteInvocation` takes it away before a verb is read.
///
/// Each has it itself: as an option group it would add 8 % to the instructions of the whole program.
enum HostOption {
    static let help = ArgumentHelp("The daemon of that machine, by ssh: alice@example.org.", valueName: "host")

    /// The names in the configuration of ssh, patterns apart.
    static let completion = CompletionKind.shellCommand(
        "sed -n 's/^ *[Hh]ost[ =]*//p' ~/.ssh/config 2> /dev/null | tr ' ' '\\n' | grep '^[A-Za-z0-9._-]*$'"
    )
}
