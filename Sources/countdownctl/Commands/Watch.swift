import ArgumentParser
import IPC

struct WatchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow countdowns until stopped.",
        usage: """
            countdownctl watch [PATTERN]... [--tick DURATION] [--since REVISION]
                  [--format FORMAT] [--on EVENT --exec COMMAND [--shell]] [options]
            """,
        discussion: """
            Examples:
              countdownctl watch
              countdownctl watch 'login/*' --json
              countdownctl watch --tick 0         only changes and ends
              countdownctl watch --tick 10s
              countdownctl watch --format waybar
              countdownctl watch --format '{label} {remaining}'      for polybar
              countdownctl watch --on finished --exec 'notify-send {label}'

            Prints the running and paused countdowns, then every change and, each second,
            the remaining time. If the daemon restarts, countdownctl reconnects and prints
            the ends that it missed.

            With --format a line is printed for each change of the countdown that ends
            next; a finished countdown is shown for 5 s. json prints {"countdowns": [...]},
            waybar and i3bar print the input of these bars, anything else is a template
            with {key} {label} {remaining} {s} {percent} {end} {state}. The class is
            running, soon, urgent, paused, finished, or idle if there is no countdown.

            The command of --exec gets the event as JSON on standard input and in
            COUNTDOWN_EVENT, _KEY, _LABEL, _STATE, _REMAINING_USEC, _DURATION_USEC,
            _LATE_USEC and _REVISION. Its words can have the fields of a template; with
            --shell it is a shell command without fields. At most 8 run at the same time.
            """
    )

    @OptionGroup var arguments: PatternArguments

    @Option(help: ArgumentHelp("The time between two ticks; 0 for none. (default: 1s)", valueName: "duration"))
    var tick: String?

    @Option(help: ArgumentHelp("Print the events after this revision, too.", valueName: "revision"))
    var since: Int64?

    @OptionGroup var feed: FeedOptions
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let tick = try tick.map { text throws(CommandFailure) in try DurationParser.read(text) }
        let selection = try KeySelection(arguments)
        let following = ResumableWatch(selection, tick: tick, since: since)
        let output = options.output
        let (line, hook) = (try feed.line(), try feed.hook())
        guard line == nil || output.json == nil else {
            throw CommandFailure.usage("use either --json or --format")
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
