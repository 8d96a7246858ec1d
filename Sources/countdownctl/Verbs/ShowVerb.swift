import ArgumentParser
import IPC

struct ShowVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a countdown.",
        usage: "countdownctl show KEY [--format TEMPLATE] [options]",
        discussion: """
            Examples:
              countdownctl show tea
              countdownctl show tea --json | jq .remainingUSec
              countdownctl show tea --format '{label} {remaining}'     for a prompt

            One that has ended is shown until it is trimmed. A template has {key} {label}
            {remaining} {s} {percent} {end} {state} in it; where no countdown is known it
            prints nothing, and the exit code is 4.
            """
    )

    @OptionGroup var argument: KeyArgument
    @Option(help: ArgumentHelp("Print a line that has what is asked for in its places.", valueName: "template"))
    var format: String?

    @OptionGroup var options: OutputOptions

    func perform() throws -> CommandStatus {
        let key = try argument.required(by: "show")
        guard let format else { return try Self.show(key, options.output) }
        guard options.json == nil else { throw Failure.usage("one of --json and --format, not both") }
        let template = try Template(format)
        guard !template.isConstant else {
            throw Failure.usage("\(quoted(format)) has no place in it; there are \(Template.places)")
        }
        do {
            let countdown = try Daemon().call(Get(key: key)).countdown
            try options.output.print([template.render(countdown, clock: .local)])
            return .success
        } catch let failure as Failure where failure.status == .unknownKey {
            return failure.status
        }
    }

    /// Shows the countdown under a key.
    static func show(_ key: String, _ output: Output) throws -> CommandStatus {
        let countdown = try Daemon().call(Get(key: key)).countdown
        if let style = output.json {
            try output.print(json: JSONText.object(countdown, style))
        } else if !output.isQuiet {
            try output.print(CountdownDetails(countdown: countdown, clock: .local, palette: output.palette).lines)
        }
        return .success
    }
}
