import ArgumentParser
import Glibc
import IPC

@main
struct Countdownctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countdownctl",
        abstract: "Keyed countdowns that outlive the programs that start them.",
        discussion: """
            Examples:
              countdownctl start tea 5m             start one, or find it running
              countdownctl start tea 5m --attach    and follow it to its end
              countdownctl start call --until 17:30
              countdownctl list                     what runs
              countdownctl adjust tea +1m           add a minute
              countdownctl wait tea && echo ready   wait for its end
              countdownctl watch --json             every event, an object a line
              countdownctl --host alice@example.org list    of another machine, by ssh

            A length is 90, 90s, 1h30m, 1.5h, 250ms, 1:30 or 1:02:03. A time is 17:30,
            'tomorrow 9:00', ISO 8601, or @ with the seconds since 1970. Ctrl-C leaves a
            countdown running and never cancels it.

            Exit codes:
                0  done
                3  known and not running; of wait and attach: cancelled
                4  no such countdown
               64  what was typed cannot be meant
               69  no daemon
               70  a fault of countdownctl
               74  not stored, or standard output could not be written
               75  try later: it runs already, a limit is reached, another one changed it
               76  what answered speaks otherwise than this countdownctl
               77  the daemon serves another user
              124  the time of --timeout has passed
              126  the command of run cannot be run
              127  the command of run is not there
              130  Ctrl-C
            Of several keys the highest; run has the code of its command, or that of -E.
            """,
        version: "countdownctl \(Version.current)",
        subcommands: [
            StartVerb.self, ShowVerb.self, ListVerb.self, WatchVerb.self, AttachVerb.self, WaitVerb.self,
            CancelVerb.self, FinishVerb.self, PauseVerb.self, ResumeVerb.self, AdjustVerb.self, IsRunningVerb.self,
            RunVerb.self, ButtonVerb.self, AskCodeVerb.self, StatusVerb.self,
        ]
    )

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    static func main() {
        Glibc.exit(Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run().rawValue)
    }

    /// The verb of a name; nil where there is none.
    static func verb(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.configuration.commandName == name }
    }
}
