import ArgumentParser

struct UndoCommand: Subcommand {
    static var name: CommandName { .undo }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Undo changes of temporarily now.",
        usage: "countdownctl undo NAME... [options]",
        discussion: """
            Examples:
              countdownctl undo dnd

            An undo that has failed is tried again at once.
            """
    )

    @Argument(help: "The name of the change.", completion: KeyCompletion.undo)
    var names: [String] = []

    @OptionGroup var messages: MessageOptions

    func perform() throws -> ExitCode {
        let output = Output(isQuiet: messages.quiet, json: false, palette: .plain)
        let keeper = try UndoKeeper(withService: ())
        var code = ExitCode.success
        for name in try KeepCommand.given(names, "dnd") { code = max(code, try keeper.undo(name, output)) }
        return code
    }
}
