import ArgumentParser
import IPC

struct RunCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command, but not again before a countdown has ended.",
        usage: "countdownctl run KEY [DURATION | --for DURATION] [options] -- COMMAND [ARGUMENT]...",
        discussion: """
            Examples:
              countdownctl run backup 1d -- restic backup /home
              countdownctl run login/alice 60s -- send-code alice
              countdownctl run feed --for 15m -q -E 0 -- fetch-feed     for cron

            Where the key runs or is paused, the command is not run: 75, or what -E says.
            Else the countdown begins, of 60 s where nothing is said, and the exit code is
            that of the command: 126 where it cannot be run, 127 where there is none, 128
            and the signal's number where one ended it. A command that fails gives the
            cooldown back. No shell is between: `sh -c` is one where it is wanted.
            """
    )

    @Argument(help: "The countdown.", completion: KeyCompletion.kind)
    var key: String?

    @Argument(help: ArgumentHelp("How long the command is not to run again.", valueName: "duration"))
    var positional: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("The same.", valueName: "duration"))
    var length: String?

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("Exit with this code instead of 75 where it runs.", valueName: "code")
    )
    var conflictExitCode: String?

    @Flag(help: "Let the countdown run though the command failed.")
    var keepOnFailure = false

    @Option(help: ArgumentHelp("A text that is shown with the countdown.", valueName: "text"))
    var label: String?

    @Flag(help: "Keep nothing of the countdown after its end.")
    var forget = false

    @OptionGroup var messages: MessageOptions

    @Argument(parsing: .postTerminator, help: "The command, and its arguments.")
    var command: [String] = []

    func perform() throws -> ExitCode {
        let call = try request()
        let conflict = try conflictStatus()
        let daemon = try DaemonEndpoint()
        let output = Output(isQuiet: messages.quiet, json: nil, palette: .plain)
        let revision: Int64
        do {
            revision = try daemon.call(call).countdown.revision
        } catch {
            guard case .alreadyRunning(let countdown) = error.refusal else { throw error }
            output.say(Self.sentence(aboutRunning: countdown))
            return conflict
        }
        let cooldown = Cooldown(key: call.key, revision: revision, daemon: daemon, output: output)
        do {
            let status = try ForegroundCommand(words: command).run().exitCode
            if status != .success, !keepOnFailure { cooldown.giveBack() }
            return status
        } catch {
            if !keepOnFailure { cooldown.giveBack() }
            throw CommandFailure(error)
        }
    }

    /// What was typed as the call that it means.
    func request() throws(CommandFailure) -> Start {
        guard let key else { throw .usage("which key? `countdownctl run backup 1d -- COMMAND`") }
        if positional == nil, length == nil, DurationParser.isMeant(by: key) {
            throw .usage("which key? `countdownctl run backup \(ShellWord.quote(key)) -- COMMAND`")
        }
        guard !command.isEmpty else {
            let word = ShellWord.quote(key)
            throw .usage("which command? `countdownctl run \(word) 1h -- COMMAND`, behind a --")
        }
        guard positional == nil || length == nil else { throw .usage("one of DURATION and --for, not both") }
        let length = try (positional ?? length).map { text throws(CommandFailure) in try DurationParser.read(text) }
        guard length != 0 else { throw .usage("a cooldown of no length is none; 1us is the shortest") }
        return Start(
            key: key,
            durationUSec: length,
            ifRunning: .fail,
            label: label,
            forget: forget ? true : nil
        )
    }

    private func conflictStatus() throws(CommandFailure) -> ExitCode {
        guard let typed = conflictExitCode else { return .tryLater }
        guard let code = UInt8(typed) else { throw .usage("\(quoted(typed)) is no exit code; 0 to 255 are") }
        return ExitCode(rawValue: Int32(code))
    }

    /// `backup: again in 34 s`.
    static func sentence(aboutRunning countdown: Countdown) -> String {
        let seconds = countdown.remainingSeconds
        let left = seconds < 60 ? "\(seconds) s" : RemainingFormat.render(countdown.remainingUSec)
        let name = CountdownText.name(countdown)
        guard countdown.state == .paused else { return "\(name): again in \(left)" }
        let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
        return "\(name): again \(left) after `\(resume)`, as it is paused"
    }
}

/// A countdown that was started for a command.
private struct Cooldown {
    let key: String
    /// That of its start: what somebody has changed since is not ours to cancel.
    let revision: Int64
    let daemon: DaemonEndpoint
    let output: Output

    func giveBack() {
        do {
            _ = try daemon.call(Cancel(key: key, ifRevision: revision))
        } catch {
            switch error.refusal {
            // It has ended, or another one's has begun.
            case .wrongState, .noSuchCountdown, .revisionMismatch: break
            default: output.warn("countdownctl: the cooldown goes on: \(error.sentence)")
            }
        }
    }
}
