import ArgumentParser
import IPC
import System

struct RunCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command, at most once per countdown.",
        usage: "countdownctl run KEY [DURATION | --for DURATION] [options] -- COMMAND [ARGUMENT]...",
        discussion: """
            Examples:
              countdownctl run backup 1d -- restic backup /home
              countdownctl run login/alice 60s -- send-code alice
              countdownctl run feed --for 15m -q -E 0 -- fetch-feed     for cron

            If the countdown is running or paused, the command is not run, and the exit
            code is 75 or that of -E. Otherwise the countdown starts (60 s by default), the
            command runs, and its exit code is returned: 126 if it cannot be executed, 127
            if it was not found, 128 plus the signal number if a signal killed it. If the
            command fails, the cooldown is cancelled. No shell is used.

            The command does not overlap itself: the countdown does not end while
            countdownctl runs, however long the command takes. After the command it ends
            DURATION after the start, or at once if that has passed; with --from end,
            DURATION after the command. If countdownctl is killed, stopped or cut off from
            the daemon, the countdown ends by itself after at most DURATION or 30 s,
            whichever is longer. Signals are passed on to the command. A process that the
            command leaves in the background is not held.

            If another program meanwhile cancels, finishes or restarts the countdown,
            countdownctl says so and leaves it alone. A countdown that was paused stays
            paused, and time that was added stays.
            """
    )

    @Argument(help: "The key.", completion: KeyCompletion.kind)
    var key: String?

    @Argument(help: ArgumentHelp("How long the command must not run again.", valueName: "duration"))
    var positional: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("The same as the argument DURATION.", valueName: "duration"))
    var length: String?

    @Option(help: ArgumentHelp("When DURATION begins: start or end of the command.", valueName: "when"))
    var from = CooldownHold.Origin.start

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("The exit code if it is already running. (default: 75)", valueName: "code")
    )
    var conflictExitCode: String?

    @Flag(help: "Keep the countdown if the command fails.")
    var keepOnFailure = false

    @Option(help: ArgumentHelp("A text to show with the countdown.", valueName: "text"))
    var label: String?

    @Flag(help: "Remove the countdown when it ends.")
    var forget = false

    @OptionGroup var messages: MessageOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func perform() throws -> ExitCode {
        let call = try request()
        let conflict = try conflictStatus()
        let daemon = try DaemonEndpoint()
        let output = Output(isQuiet: messages.quiet, json: nil, palette: .plain)
        let timer = try BootTimer.orFailure()
        let countdown: Countdown
        do {
            countdown = try daemon.call(call).countdown
        } catch {
            guard case .alreadyRunning(let countdown, _) = error.refusal else { throw error }
            output.say(Self.sentence(aboutRunning: countdown))
            return conflict
        }
        let keeper = CooldownKeeper(
            try terms(countdown),
            started: countdown,
            timer: timer,
            daemon: daemon,
            output: output
        )
        do {
            let ending = try ForegroundCommand(words: command).run(beside: keeper)
            keeper.finish(succeeded: ending == .exited(code: 0))
            return ending.exitCode
        } catch {
            keeper.finish(succeeded: false)
            throw error
        }
    }

    /// The call for the arguments.
    func request() throws(CommandFailure) -> Start {
        guard let key else { throw .usage("missing key; for example `countdownctl run backup 1d -- COMMAND`") }
        if positional == nil, length == nil, DurationParser.isMeant(by: key) {
            throw .usage("missing key; for example `countdownctl run backup \(ShellWord.quote(key)) -- COMMAND`")
        }
        guard !command.isEmpty else {
            let word = ShellWord.quote(key)
            throw .usage("missing command; for example `countdownctl run \(word) 1h -- COMMAND`")
        }
        let cooldown = try cooldown()
        return Start(
            key: key,
            durationUSec: cooldown.map { terms($0).hold },
            ifRunning: .fail,
            label: label,
            forget: forget ? true : nil
        )
    }

    /// The terms of the cooldown for the reply to the call.
    private func terms(_ countdown: Countdown) throws(CommandFailure) -> CooldownHold.Terms {
        terms(try cooldown() ?? countdown.durationUSec)
    }

    private func terms(_ cooldown: Int64) -> CooldownHold.Terms {
        CooldownHold.Terms(cooldown: cooldown, origin: from, keepsOnFailure: keepOnFailure)
    }

    /// The duration that was typed.
    private func cooldown() throws(CommandFailure) -> Int64? {
        guard positional == nil || length == nil else { throw .usage("use either DURATION or --for") }
        let length = try (positional ?? length).map { text throws(CommandFailure) in try DurationParser.read(text) }
        guard length != 0 else { throw .usage("the duration must be at least 1us") }
        return length
    }

    private func conflictStatus() throws(CommandFailure) -> ExitCode {
        guard let typed = conflictExitCode else { return .tryLater }
        guard let code = UInt8(typed) else {
            throw .usage("invalid --conflict-exit-code \(quoted(typed)): use 0 to 255")
        }
        return ExitCode(rawValue: Int32(code))
    }

    /// `backup: again in 34 s`.
    static func sentence(aboutRunning countdown: Countdown) -> String {
        let seconds = countdown.remainingSeconds
        let left = seconds < 60 ? "\(seconds) s" : RemainingFormat.render(countdown.remainingUSec)
        let name = CountdownText.name(countdown)
        guard countdown.state == .paused else { return "\(name): again in \(left)" }
        let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
        return "\(name): paused; again \(left) after `\(resume)`"
    }
}

extension CooldownHold.Origin: ExpressibleByArgument {}

extension BootTimer {
    /// A timer.
    ///
    /// - Throws: an internal error if the system refuses.
    fileprivate static func orFailure() throws(CommandFailure) -> BootTimer {
        do {
            return try BootTimer()
        } catch {
            throw CommandFailure(.internalFault, "cannot make a timer: \(error)")
        }
    }
}
