import ArgumentParser
import IPC

struct WatchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow countdowns until stopped.",
        usage: """
            countdownctl watch [PATTERN]... [--tick DURATION] [--since REVISION] [--format FORMAT]
                  [--on EVENT --exec COMMAND [--shell]] [options]
            """,
        discussion: """
            Examples:
              countdownctl watch
              countdownctl watch 'login/*' --json
              countdownctl watch --tick 0         changes and ends alone
              countdownctl watch --tick 10s
              countdownctl watch --format waybar
              countdownctl watch --format '{label} {remaining}'      for polybar
              countdownctl watch --on finished --exec 'notify-send {label}'

            First each that runs or is paused is told, then what changes and, on whole
            seconds, what remains. Where the daemon goes away it is waited for, and all
            that ended meanwhile is told.

            With --format a line is printed wherever what it shows has changed, of the
            countdown that ends first; one that has just finished is shown for 5 s. json is
            {"countdowns": [...]}, waybar and i3bar are what these take, anything else is a
            template with {key} {label} {remaining} {s} {percent} {end} {state} in it. The
            class is running, soon, urgent, paused, finished, or idle where there is none.

            The command of --exec has the event as JSON on its standard input, and in
            COUNTDOWN_EVENT, _KEY, _LABEL, _STATE, _REMAINING_USEC, _DURATION_USEC,
            _LATE_USEC and _REVISION. Its words have the places of a template; with --shell
            it is a line for sh, and has none. 8 run at once, the others wait.
            """
    )

    @Argument(help: "Follow those whose keys match one of these.", completion: KeyCompletion.kind)
    var patterns: [String] = []

    @Option(help: ArgumentHelp("How often to tell what remains; 0 for never. (default: 1s)", valueName: "duration"))
    var tick: String?

    @Option(help: ArgumentHelp("Tell what ended after that revision, too.", valueName: "revision"))
    var since: Int64?

    @OptionGroup var feed: FeedOptions
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let tick = try tick.map { text throws(CommandFailure) in try DurationParser.read(text) }
        let selection = KeySelection(typed: patterns)
        let following = ResumableWatch(selection, tick: tick, since: since)
        let output = options.output
        let (line, hook) = (try feed.line(), try feed.hook())
        guard line == nil || output.json == nil else {
            throw CommandFailure.usage("one of --json and --format, not both")
        }
        if line != nil || hook != nil {
            var feed = try Feed(following, of: try DaemonEndpoint(), output: output, line: line, hook: hook)
            return try feed.run()
        }
        let daemon = try DaemonEndpoint()
        var watchOutput = try output.watchOutput(of: daemon, selection.isOne ? .anyOfOneKey : .several)
        var stream = try EventStream(following, of: daemon, interruption: watchOutput.waiting)
        while true {
            switch try stream.next() {
            case .events(let events): try watchOutput.printer.show(events)
            case .notice(let notice): try watchOutput.printer.report(notice, output)
            case .timedOut: break
            case .interrupted:
                try watchOutput.printer.finish()
                return watchOutput.waiting.leavingStatus
            }
        }
    }
}
