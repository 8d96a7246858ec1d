import ArgumentParser

/// What `countdown-undo.service` runs.
struct UndoServiceCommand: Subcommand {
    static var names: [String] { ["undo-service"] }

    static let configuration = CommandConfiguration(
        names: names,
        abstract: "Undo the changes of temporarily when their countdowns end.",
        usage: "countdownctl undo-service [--stay]",
        discussion: """
            Examples:
              countdownctl undo-service --stay &

            countdown-undo.path starts it. It exits when nothing remains to be undone.
            SIGUSR1 tries failed undos again at once.
            """,
        shouldDisplay: false
    )

    @Flag(help: "Stay when nothing remains to be undone, for a session without systemd.")
    var stay = false

    func perform() throws -> ExitCode {
        try UndoService(output: Output(isQuiet: false, json: false, palette: .plain)).run(stays: stay)
        return .success
    }
}
