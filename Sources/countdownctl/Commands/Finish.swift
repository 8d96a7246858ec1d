import ArgumentParser
import IPC

struct FinishCommand: ChangeCommand {
    static let configuration = CommandConfiguration(
        subcommand: "finish",
        abstract: "Finish countdowns now.",
        usage: "countdownctl finish KEY... [options]",
        discussion: """
            Examples:
              countdownctl finish tea
              countdownctl finish tea coffee
            """
    )

    @OptionGroup var arguments: KeyArguments
    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    func change(
        _ key: String,
        ifRevision: Int64?,
        with client: inout Client
    ) throws(ClientError) -> Countdown {
        try client.call(Finish(key: key, ifRevision: ifRevision)).countdown
    }

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "finished"
    }
}
