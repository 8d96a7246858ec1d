import ArgumentParser
import IPC

struct ResumeCommand: OneCallCommand {
    typealias Call = Resume

    static var name: CommandName { .resume }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Resume paused countdowns.",
        usage: "countdownctl resume KEY... [options]",
        discussion: """
            Examples:
              countdownctl resume tea
              countdownctl resume tea coffee
            """
    )

    @OptionGroup var arguments: KeyArguments
    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    var stateAfterwards: Countdown.State? { .running }

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "resumed, \(text.remaining(countdown))"
    }
}
