import ArgumentParser
import IPC

/// What makes a watch one for programs.
struct FeedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print a line an update: json, waybar, i3bar, or a template such as '{label} {remaining}'.",
            valueName: "format"
        ),
        completion: .list(["json", "waybar", "i3bar"])
    )
    var format: String?

    @Option(help: ArgumentHelp("Where a line's class becomes soon. (default: 1m)", valueName: "duration"))
    var soon: String?

    @Option(help: ArgumentHelp("Where a line's class becomes urgent. (default: 10s)", valueName: "duration"))
    var urgent: String?

    @Option(
        help: ArgumentHelp("The events that run the command of --exec, such as finished.", valueName: "event"),
        completion: .list(Hook.types.map(\.rawValue))
    )
    var on: [String] = []

    @Option(help: ArgumentHelp("Run a command on each event of --on; no shell is between.", valueName: "command"))
    var exec: String?

    @Flag(help: "Have sh run the command of --exec.")
    var shell = false

    @Option(help: ArgumentHelp("How long such a command may take. (default: 1m)", valueName: "duration"))
    var execTimeout: String?

    /// The feed's lines; nil where none are asked for.
    func line() throws(Failure) -> FeedLine? {
        guard let format else {
            guard soon == nil, urgent == nil else { throw .usage("--soon and --urgent are for lines of --format") }
            return nil
        }
        var thresholds = FeedClass.Thresholds()
        if let soon { thresholds.soon = try DurationText.read(soon) }
        if let urgent { thresholds.urgent = try DurationText.read(urgent) }
        return FeedLine(format: try FeedFormat(format), thresholds: thresholds)
    }

    /// The command that events run; nil where none is asked for.
    func hook() throws(Failure) -> Hook? {
        guard let exec else {
            guard on.isEmpty, !shell, execTimeout == nil else {
                throw .usage("which command? `countdownctl watch --on finished --exec 'notify-send {label}'`")
            }
            return nil
        }
        guard !on.isEmpty else { throw .usage("on which events? --on finished, for one") }
        let timeout = try execTimeout.map { text throws(Failure) in try DurationText.read(text) }
        return try Hook(on: on, exec: exec, shell: shell, timeout: timeout ?? 60_000_000)
    }
}
