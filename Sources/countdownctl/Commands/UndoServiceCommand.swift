import ArgumentParser

/// What `countdown-undo.service` runs.
struct UndoServiceCommand: Subcommand {
    static var name: CommandName { .undoService }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Undo the changes of temporarily when their countdowns end.",
        usage: "countdownctl undo-service [--stay] [--directory PATH]",
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

    @Option(help: ArgumentHelp("The directory with the files of changes.", valueName: "path"))
    var directory: String?

    func perform() throws -> ExitCode {
        let path = try directory ?? UndoDirectory.place()
        let output = Output(isQuiet: false, json: false, palette: .plain, isPatient: false)
        try UndoService(of: path, output: output).run(stays: stay)
        return .success
    }
}
