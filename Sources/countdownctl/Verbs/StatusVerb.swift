import ArgumentParser
import IPC

struct StatusVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the daemon, or a countdown.",
        usage: "countdownctl status [KEY] [--all] [options]",
        discussion: """
            Examples:
              countdownctl status
              countdownctl status --all          its limits as well
              countdownctl status --json
              countdownctl status tea            the same as show tea
            """
    )

    @Argument(help: "The countdown.", completion: KeyCompletion.kind)
    var key: String?

    @Flag(name: .shortAndLong, help: "Show the limits of the daemon as well.")
    var all = false

    @OptionGroup var options: OutputOptions

    func perform() throws -> CommandStatus {
        let output = options.output
        if let key { return try ShowVerb.show(key, output) }
        let status = try Daemon().call(GetStatus())
        if let style = output.json {
            try output.print(json: JSONText.object(status, style))
        } else if !output.isQuiet {
            let details = StatusDetails(
                status: status,
                clientVersion: Version.current,
                lingers: RemoteInvocation.isInside ? nil : Lingering.isEnabled(),
                all: all,
                clock: .local
            )
            try output.print(details.lines)
        }
        return .success
    }
}
