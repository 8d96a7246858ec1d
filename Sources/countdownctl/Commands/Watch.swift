import ArgumentParser
import IPC
import Text

struct WatchCommand: Subcommand {
    static var name: CommandName { .watch }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Follow countdowns until stopped.",
        usage: """
            countdownctl watch [PATTERN]... [--tick DURATION] [--since REVISION]
                  [--plain | --format FORMAT [--cooldowns]] [options]
            countdownctl watch [PATTERN]... --exec COMMAND [--shell] [--on EVENT]...
                  [--before DURATION] [--cursor-file FILE] [--claim NAME] [options]
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
              countdownctl watch --on finished --exec ./hook --cursor-file ends.cursor

            Prints the running and paused countdowns, then every change and the remaining
            time: each minute, each 10 s in the last minute, each second in the last ten,
            or as --tick says. On a terminal, it draws a picture instead, unless --plain is
            given. If the daemon restarts, countdownctl reconnects and prints the ends that
            it missed. Keys of temporarily are printed with --json only, or if undo/... was
            typed.

            With --format a line is printed for each change of the timer that ends next; a
            finished timer is shown for 5 s. --cooldowns adds the cooldowns of run, button
            and --rate, and a key that is typed is shown whatever it is. json prints
            {"countdowns": [...]}, waybar and i3bar print the input of these bars, anything
            else is a template with {key} {label} {remaining} {s} {percent} {end} {state}
            {metadata.NAME}. The class is running, soon, urgent, paused, finished, or idle
            if there is none.

            The command of --exec gets the event as JSON on standard input and in
            COUNTDOWN_EVENT, _KEY, _LABEL, _STATE, _REMAINING_USEC, _DURATION_USEC,
            _LATE_USEC, _REVISION and COUNTDOWN_META_NAME for the metadata NAME; names with
            other characters than ASCII letters, digits and _ are left out. Its words can
            have the fields of a template; with --shell it is a shell command without
            fields. At most 8 run at the same time, and later events wait.

            With --cursor-file, the next run continues where this one stopped: the file has
            the newest revision up to which every command has exited, whatever its code.
            Only commands that were running run again. If the file is missing, the watch
            begins now. Ends are delivered later; of other changes, only the last state of
            a countdown, as attached. Two watches cannot use one file at the same time.

            With --before 1m the command runs, with the event before, when a minute is left
            of a countdown that had more. It is not made up for if no watch was running.

            With --claim NAME, of all watches with that name, also on the machines of a
            fleet, one runs the command for an end, and at most once: a command that fails
            or is killed does not run again. Before it, countdownctl starts a countdown
            claim/NAME/..., which runs for 1 h or --claim-for. Ends that are older than
            that are reported on standard error and left alone.
            """
    )

    @OptionGroup var arguments: PatternArguments

    @Option(help: ArgumentHelp("The time between two ticks; 0 for none. (default: 1s)", valueName: "duration"))
    var tick: String?

    @Option(help: ArgumentHelp("Print the events after this revision, too.", valueName: "revision"))
    var since: Int64?

    @Flag(help: "Print lines instead of a picture.")
    var plain = false

    @OptionGroup var feed: FeedOptions
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let tick = try tick.map(DurationParser.read)
        let selection = try KeySelection(arguments)
        let output = options.output
        let (line, claims, hook) = (try feed.line(of: selection), try feed.claims(), try feed.hook())
        let file = try feed.file(since: since)
        guard line == nil || !output.json else {
            throw CommandFailure.usage("use either --json or --format")
        }
        if plain, line != nil { throw CommandFailure.usage("use either --plain or --format") }
        if line != nil || hook != nil {
            let watch = selection.watch(tick: tick, since: since)
            let daemon = try DaemonEndpoint()
            var feed = try Feed(watch, of: daemon, output: output, line: line, hook: hook, claims: claims, file: file)
            return try feed.run()
        }
        let daemon = try DaemonEndpoint()
        let style = FollowStyle(tick: tick, isPlain: plain)
        let subject = selection.isOne ? FollowScreen.Subject.anyOfOneKey : .several
        let (printer, waiting, ticks) = try output.watchOutput(of: daemon, subject, style)
        let following = ResumableWatch(selection, tick: ticks, since: since)
        var stream = try EventStream(following, of: daemon, interruption: waiting)
        // Programs get everything.
        let shown = ShownCountdowns(hasCooldowns: true, selection: selection)
        return try stream.show(output.json ? nil : shown, in: printer)
    }
}
