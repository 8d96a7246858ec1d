import ArgumentParser
import IPC

struct CancelCommand: OneCallCommand {
    typealias Call = Cancel

    static var name: CommandName { .cancel }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Cancel countdowns.",
        usage: "countdownctl cancel KEY... [options]",
        discussion: """
            Examples:
              countdownctl cancel tea
              countdownctl cancel login/alice login/bob -q
              countdownctl cancel tea --if-revision 1772355600000042
            """
    )

    @OptionGroup var arguments: KeyArguments
    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "cancelled, \(RemainingFormat.render(countdown.remainingUSec)) was left"
    }
}
