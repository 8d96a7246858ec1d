import ArgumentParser
import Glibc
import IPC
import System

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
            StartCommand.self, ShowCommand.self, ListCommand.self, WatchCommand.self, AttachCommand.self,
            WaitCommand.self,
            CancelCommand.self, FinishCommand.self, PauseCommand.self, ResumeCommand.self, AdjustCommand.self,
            IsRunningCommand.self,
            RunCommand.self, ButtonCommand.self, AskCodeCommand.self, StatusCommand.self,
        ]
    )

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    static func main() {
        Glibc.exit(Invocation(arguments: Array(CommandLine.arguments.dropFirst())).run().rawValue)
    }

    /// The verb of a name; nil where there is none.
    static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.configuration.commandName == name }
    }
}

/// One run of the program, from what was typed to the code that it exits with.
struct Invocation {
    /// What was typed behind the name of the program.
    let arguments: [String]

    func run() -> ExitCode {
        ignoreBrokenPipes()
        let typed = ArgumentNormalizer.normalize(arguments)
        do {
            if let remote = try RemoteInvocation(arguments) {
                // Help, and what cannot be meant, need no login.
                let isVerb = Self.subcommand(ArgumentNormalizer.normalize(remote.arguments)) != nil
                return isVerb ? try remote.run() : Invocation(arguments: remote.arguments).run()
            }
            if let verb = Self.subcommand(typed) { return try verb.perform() }
            let verbs = Countdownctl.configuration.subcommands.compactMap { $0.configuration.commandName }
            // Help of what is no verb would be that of all of them.
            let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
            if let mistaken = UnknownCommand(words, verbs: verbs + ["help"]) {
                return report(.usage(mistaken.sentence(verbs: verbs)))
            }
            var command = try Countdownctl.parseAsRoot(typed)
            if let verb = command as? any Subcommand { return try verb.perform() }
            try command.run()
            return .success
        } catch {
            return end(with: error)
        }
    }

    /// The subcommand if the arguments are right, parsed without the other subcommands, which is faster. Nil
    /// for help and for wrong arguments: the whole program has the better message.
    private static func subcommand(_ arguments: [String]) -> (any Subcommand)? {
        guard let name = arguments.first, let type = Countdownctl.subcommand(named: name) else { return nil }
        return try? type.parseAsRoot(Array(arguments.dropFirst())) as? any Subcommand
    }

    /// Says how it went, where a verb did not.
    func end(with error: any Error) -> ExitCode {
        switch error {
        case let failure as CommandFailure: report(failure)
        case let failure as StreamFailure: CommandFailure(failure).map(report) ?? .success
        default: answer(error)
        }
    }

    /// What ArgumentParser has to say: help, which is data, or what was wrong with the arguments. Any other error is one
    /// that nobody thought of.
    private func answer(_ error: any Error) -> ExitCode {
        switch Countdownctl.exitCode(for: error) {
        case .success:
            do {
                try StandardStream.output.write(Array("\(Countdownctl.fullMessage(for: error))\n".utf8))
                return .success
            } catch {
                return end(with: error)
            }
        case .validationFailure: return report(.usage(printable(Countdownctl.message(for: error))))
        default: return report(CommandFailure(.internalFault, "\(error)"))
        }
    }

    /// A message of ArgumentParser, which repeats what was typed. Line breaks are its own if none was typed.
    private func printable(_ message: String) -> String {
        guard !arguments.contains(where: { $0.contains("\n") }) else { return PrintableText.escape(message) }
        return message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            PrintableText.escape(String(line))
        }.joined(separator: "\n")
    }

    private func report(_ failure: CommandFailure) -> ExitCode {
        var lines = ["countdownctl: \(failure.sentence)"]
        if failure.exitCode == .usage, let word = arguments.first {
            if Countdownctl.subcommand(named: word) != nil {
                lines.append("`countdownctl \(word) --help` shows how it is typed")
            } else if word.hasPrefix("-") {
                lines.append("`countdownctl --help` shows how it is typed")
            }
        }
        // Nobody could be told of it.
        try? StandardStream.error.write(Array((lines.joined(separator: "\n") + "\n").utf8))
        return failure.exitCode
    }
}
