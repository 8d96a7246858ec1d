import ArgumentParser
import IPC

struct PauseCommand: OneCallCommand {
    typealias Call = Pause

    static var name: CommandName { .pause }

    static let configuration = CommandConfiguration(
        name: name,
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

    var stateAfterwards: Countdown.State? { .paused }

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        let isUndo = countdown.key.hasPrefix(UndoRecord.prefix)
        return "paused, \(text.remaining(countdown))\(isUndo ? "; it is not undone before resume" : "")"
    }
}
