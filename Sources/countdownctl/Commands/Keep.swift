import ArgumentParser
import Text

struct KeepCommand: Subcommand {
    static var name: CommandName { .keep }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Keep changes of temporarily: do not undo them.",
        usage: "countdownctl keep NAME... [options]",
        discussion: """
            Examples:
              countdownctl keep firewall
            """
    )

    @Argument(help: "The name of the change.", completion: KeyCompletion.undo)
    var names: [String] = []

    @OptionGroup var messages: MessageOptions

    func perform() throws -> ExitCode {
        let output = Output(isQuiet: messages.quiet, json: false, palette: .plain)
        let keeper = try UndoKeeper()
        for name in try Self.given(names, "firewall") {
            try keeper.keep(name)
            output.say("\(PrintableText.escape(name)): kept")
        }
        return .success
    }

    /// - Throws: a usage error if no name was typed.
    static func given(_ names: [String], _ example: String) throws(CommandFailure) -> [String] {
        guard !names.isEmpty else { throw .usage("missing name, such as \(example)") }
        return names
    }
}
