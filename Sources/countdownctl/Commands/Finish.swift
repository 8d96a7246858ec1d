import ArgumentParser
import IPC

struct FinishCommand: OneCallCommand {
    typealias Call = Finish

    static var name: CommandName { .finish }

    static let configuration = CommandConfiguration(
        name: name,
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

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "finished"
    }
}
