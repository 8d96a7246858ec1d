import ArgumentParser
import IPC

struct PauseCommand: ChangeCommand {
    typealias RequestedChange = Pause

    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause countdowns; they keep the remaining time.",
        usage: "countdownctl pause KEY... [options]",
        discussion: """
            Examples:
              countdownctl pause tea
              countdownctl pause tea coffee --json
            """
    )

    @OptionGroup var arguments: KeyArguments
    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    var stateAfterwards: State? { .paused }

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "paused, \(text.remaining(countdown))"
    }
}
