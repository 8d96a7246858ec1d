import ArgumentParser
import Glibc
import IPC
import System
import Text

@main
struct Countdownctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countdownctl",
        abstract: "Start, watch and change countdowns that outlive their programs.",
        discussion: """
            Examples:
              countdownctl 5m Green tea             start a timer; it gets its own key
              countdownctl at 17:30 Call the bank
              countdownctl toggle @next             resume a paused one, or pause the next
              countdownctl snooze                   five more minutes for the last one
              countdownctl start tea 5m             start a countdown, or find it running
              countdownctl start tea 5m --attach    and follow it until it ends
              countdownctl list                     list running and paused countdowns
              countdownctl adjust tea +1m           add a minute
              countdownctl wait tea && echo ready   wait until it ends
              countdownctl watch --json             print every event as a JSON object
              countdownctl --host alice@example.org list    on another machine, by ssh

            As a KEY, @next is the running timer that ends first, or if none runs, the
            paused one with the least time; @last is the one that was started last. Timers
            are all but cooldowns (run, button, --rate) and countdowns of temporarily. If
            the timer changes between the lookup and the change, it is looked up once more;
            then the exit code is 75.
            If no countdown has the key, commands for people (cancel, finish, pause,
            resume, toggle, adjust, show) take it as the label of a timer, as in
            cancel Green tea. --key takes a key as it is, even if it is called @next.

            A DURATION is 90 (seconds), 90s, 1h30m, 1 h 30 min, 1.5h, half an hour, 250ms,
            1:30 or 1:02:03, also with in: in 20 minutes. A TIME is 17:30, 5pm, noon,
            'tomorrow 9:00', '24 Dec 18:00', '9:00 on Friday', '17:30 UTC', '17:30
            Europe/Berlin', an ISO 8601 time, or @ and the seconds since 1970, after
            --until or at: at 17:30. Without these, 17:30 is a duration. The words are
            English, German or Chinese. Ctrl-C stops countdownctl; the countdown keeps
            running.

            Exit codes:
                0  success
                3  the countdown is not running; for wait and attach: it was cancelled
                4  no such countdown
               64  usage error
               69  the daemon is not running, or did not answer within 25 s
               70  internal error
               74  the change was not stored, or standard output cannot be written
               75  try again later: already running, a limit is reached, the revision does
                   not match, the daemon cannot open its store and does not know, or the
                   countdowns of a fleet are not known
               76  protocol mismatch with the daemon
               77  permission denied: the daemon serves another user
               79  a fleet did not answer, so the change may have been made
              124  timed out: --timeout expired
              126  the command of run cannot be executed
              127  the command of run was not found
              130  Ctrl-C
            With several keys, the highest code. run returns its command's code, or -E's.
            """,
        version: VersionCommand.line,
        groupedSubcommands: CommandName.groups.map { group in
            // To convert the array is a search of all conformances for each subcommand.
            CommandGroup(
                name: group.name,
                subcommands: group.commands.map { Subcommands.type(of: $0) as any ParsableCommand.Type }
            )
        }
    )

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    static func main() {
        // If it fails, commands that need descriptors fail with a sentence.
        try? Surroundings.openStandardStreams()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let argument = ProcessArguments.firstInvalid(before: 1 + Invocation.commandStart(in: arguments)) {
            let failure = CommandFailure.usage("invalid argument \(quoted(argument)): it is not UTF-8")
            Glibc.exit(Invocation(arguments: []).end(with: failure).rawValue)
        }
        Glibc.exit(Invocation(arguments: arguments).run().rawValue)
    }
}

/// One run of the program, from its arguments to its exit code.
struct Invocation {
    /// The arguments without the name of the program, the subcommand first.
    let arguments: [String]

    /// A duration or a time in the place of the subcommand stands for `timer`.
    init(arguments typed: [String]) {
        let isTimer =
            typed.first.map { Subcommands.named($0) == nil } == true && TimerWords.isBeginning(typed)
        arguments = isTimer ? ["timer"] + typed : typed == ["-V"] ? ["version"] : typed
    }

    /// The place of the first word of a command that a subcommand runs, which gets its words as they are; the end if there is
    /// no such command.
    static func commandStart(in arguments: [String]) -> Int {
        let local = ((try? RemoteInvocation(arguments)) ?? nil)?.arguments ?? arguments
        guard let name = local.first, ["run", "button", "temporarily"].contains(name) else { return arguments.count }
        return arguments.firstIndex(of: "--") ?? arguments.count
    }

    /// Runs it; `isRemote` if `--host` stood before the arguments.
    func run(isRemote: Bool = false) -> ExitCode {
        // A write to a pipe without a reader fails instead of ending the process: of several changes in one command, none is
        // left out because of the output of another.
        signal(SIGPIPE, SIG_IGN)
        let typed = ArgumentNormalizer.normalize(arguments)
        do {
            if let remote = try RemoteInvocation(arguments) {
                // Help and usage errors need no login.
                let here = Invocation(arguments: remote.arguments)
                let isSubcommand = Self.subcommand(ArgumentNormalizer.normalize(here.arguments)) != nil
                return isSubcommand ? try remote.run() : here.run(isRemote: true)
            }
            if arguments.isEmpty, !isRemote, let list = Self.listOfRunningDaemon { return try list.perform() }
            if let help = ShortHelp(arguments, of: Countdownctl.configuration) {
                try StandardStream.output.write(Array("\(help.text)\n".utf8))
                return .success
            }
            if let subcommand = Self.subcommand(typed) { return try subcommand.perform() }
            // ArgumentParser answers `help` of an unknown subcommand with the help of the program.
            let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
            if let unknown = UnknownCommand(words) { return report(.usage(unknown.sentence)) }
            var command = try Countdownctl.parseAsRoot(typed)
            if let subcommand = command as? any Subcommand { return try subcommand.perform() }
            try command.run()
            return .success
        } catch {
            return end(with: error)
        }
    }

    /// `list`, if there is a terminal to print on and a daemon that need not be started.
    private static var listOfRunningDaemon: (any Subcommand)? {
        guard StandardStream.output.isTerminal, (try? DaemonEndpoint())?.isRunning == true else { return nil }
        return subcommand(["list"])
    }

    /// The subcommand if the arguments are right, parsed without the other subcommands, which is faster. Nil
    /// for help and for wrong arguments: the whole program has the better message.
    private static func subcommand(_ arguments: [String]) -> (any Subcommand)? {
        guard let name = arguments.first, let type = Subcommands.named(name) else { return nil }
        return try? type.parseAsRoot(Array(arguments.dropFirst())) as? any Subcommand
    }

    /// Reports an error and returns its exit code.
    func end(with error: any Error) -> ExitCode {
        switch error {
        case let failure as CommandFailure: report(failure)
        case let failure as StreamFailure: CommandFailure(failure).map(report) ?? .success
        default: answer(error)
        }
    }

    /// Prints ArgumentParser's help or completion script to standard output, or its message as a usage error. Any other error is an internal
    /// error.
    private func answer(_ error: any Error) -> ExitCode {
        switch Countdownctl.exitCode(for: error) {
        case .success:
            do {
                let shown = Countdownctl.configuration.subcommands.map { $0.configuration }.filter(\.shouldDisplay)
                let text = CompletionScript.completing(
                    Countdownctl.fullMessage(for: error),
                    names: shown.compactMap(\.commandName)
                )
                try StandardStream.output.write(Array("\(text)\n".utf8))
                return .success
            } catch {
                return end(with: error)
            }
        case .validationFailure:
            let missing = RunCommand.missingSeparator(in: arguments)
            return report(missing ?? .usage(printable(Countdownctl.message(for: error))))
        default: return report(CommandFailure(.internalFault, "\(error)"))
        }
    }

    /// A message of ArgumentParser, which repeats arguments. Its line breaks stay if no argument has one.
    private func printable(_ message: String) -> String {
        guard !arguments.contains(where: { $0.contains("\n") }) else { return PrintableText.escape(message) }
        return message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            PrintableText.escape(String(line))
        }.joined(separator: "\n")
    }

    private func report(_ failure: CommandFailure) -> ExitCode {
        var lines = ["countdownctl: \(failure.sentence)"]
        if failure.exitCode == .usage, let word = arguments.first {
            if Subcommands.named(word) != nil {
                lines.append("see `countdownctl \(word) -h`")
            } else if word.hasPrefix("-") {
                lines.append("see `countdownctl -h`")
            }
        }
        // A failing write to standard error cannot be reported.
        try? StandardStream.error.write(Array((lines.joined(separator: "\n") + "\n").utf8))
        return failure.exitCode
    }
}
