import ArgumentParser
import IPC
import System

struct RunCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "run",
        abstract: "Run a command, at most once per countdown.",
        usage: """
            countdownctl run KEY [DURATION | --for DURATION] [--from start | --from end]
                  [--wait[=TIMEOUT]] [--on-lost SIGNAL] [options] -- COMMAND [ARGUMENT]...
            countdownctl run KEY --rate N/PERIOD [--wait[=TIMEOUT]] [options]
                  -- COMMAND [ARGUMENT]...
            """,
        discussion: """
            Examples:
              countdownctl run backup 1d -- restic backup /home
              countdownctl run login/alice 60s -- send-code alice
              countdownctl run feed --for 15m -q -E 0 -- fetch-feed     for cron
              countdownctl run codes/alice --rate 3/10m -- send-code alice
              countdownctl run deploy 1us --wait=10m -- deploy-site
              countdownctl run sync 1us --on-lost TERM -- sync-files

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
            whichever is longer; so does it if the machine is suspended for longer than
            half of that. Signals are passed on to the command. A process that the command
            leaves in the background is not held.

            If another program meanwhile cancels, finishes or restarts the countdown,
            countdownctl says so and leaves it alone. A countdown that was paused stays
            paused, and time that was added stays.

            With --on-lost TERM, the command gets that signal as soon as the countdown no
            longer holds: it ended, another program started it, or its end came before it
            could be renewed. After a suspend that is at the resume. The next command may
            already run then.

            With --wait, the call queues while the key is running or paused, and runs the
            command when its turn comes, in the order of arrival. After TIMEOUT the exit
            code is 75 or that of -E.

            With --rate 3/10m, the command runs three times at once, then once per 3:20.
            A rate is not a hard cap: any ten minutes may see five. --rate does not hold
            the key, so commands may overlap. If the command fails, it does not count.
            """
    )

    @Argument(help: "The key.", completion: KeyCompletion.any)
    var key: String?

    @Argument(help: ArgumentHelp("How long the command must not run again.", valueName: "duration"))
    var positional: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("The same as the argument DURATION.", valueName: "duration"))
    var length: String?

    @Option(
        help: ArgumentHelp("When DURATION begins: start or end of the command. (default: start)", valueName: "when")
    )
    var from: CooldownHold.Origin?

    @Option(help: ArgumentHelp("Run N times at once, then once per PERIOD / N.", valueName: "n/period"))
    var rate: String?

    // `ArgumentNormalizer` adds the value to `--wait` and `--json` alone.
    @Option(help: ArgumentHelp("Queue until its turn comes: --wait or --wait=TIMEOUT.", valueName: "timeout"))
    var wait: String?

    @Option(help: ArgumentHelp("If it is refused, print a JSON object with retryAfterUSec.", valueName: "short|pretty"))
    var json: JSONStyle?

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("The exit code if it is already running. (default: 75)", valueName: "code")
    )
    var conflictExitCode: String?

    @Option(help: ArgumentHelp("Send the command this signal when its hold is lost.", valueName: "signal"))
    var onLost: String?

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
        let output = Output(isQuiet: messages.quiet, json: json, palette: .plain)
        let timer = try BootTimer.orFailure()
        do {
            switch try start(call, of: daemon, output) {
            case .received(let reply): return try run(reply.countdown, timer: timer, of: daemon, output)
            case .timedOut: output.say(QueueTimeout.sentence(about: call.key, wait ?? ""))
            case .interrupted: return .interrupted
            }
        } catch {
            guard let refusal = StartRefusal(error) else { throw error }
            if let json { try output.print(json: JSONText.object(refusal, json)) }
            output.say(refusal.sentence(of: try typedRate()))
        }
        return conflict
    }

    private func start(
        _ call: Start,
        of daemon: DaemonEndpoint,
        _ output: Output
    ) throws(CommandFailure) -> AwaitedReply<Start.Reply> {
        guard let wait else { return .received(try daemon.call(call)) }
        let timeout = try QueueTimeout.read(wait)
        return try keepingSignalMask { () throws(CommandFailure) in
            try daemon.queue(call, timeout: timeout, output: output)
        }
    }

    /// Runs the command under the countdown that was started or extended for it.
    private func run(
        _ countdown: Countdown,
        timer: consuming BootTimer,
        of daemon: DaemonEndpoint,
        _ output: Output
    ) throws(CommandFailure) -> ExitCode {
        let command = ForegroundCommand(words: command)
        if let rate = try typedRate() {
            return try finishing(command, beside: nil) { succeeded in
                guard !succeeded, !keepOnFailure else { return }
                giveBack(rate.interval, of: countdown, to: daemon, output)
            }
        }
        let terms = terms(try cooldown() ?? countdown.durationUSec)
        let keeper = CooldownKeeper(
            terms,
            started: countdown,
            timer: timer,
            daemon: daemon,
            output: output,
            lossSignal: try lossSignal()
        )
        return try finishing(command, beside: keeper) { keeper.finish(succeeded: $0) }
    }

    /// Runs the command, then `finish`, also if it cannot be started.
    private func finishing(
        _ command: ForegroundCommand,
        beside work: (any CompanionWork)?,
        _ finish: (_ succeeded: Bool) -> Void
    ) throws(CommandFailure) -> ExitCode {
        let ending: ProcessEnding
        do {
            ending = try command.run(beside: work)
        } catch {
            finish(false)
            throw error
        }
        finish(ending == .exited(code: 0))
        return ending.exitCode
    }

    /// Takes back the time that a failed command used of its rate, unless the countdown was started again.
    private func giveBack(_ interval: Int64, of started: Countdown, to daemon: DaemonEndpoint, _ output: Output) {
        var revision = started.revision
        while true {
            do {
                _ = try daemon.call(Adjust(key: started.key, byUSec: -interval, ifRevision: revision))
                return
            } catch {
                switch error.refusal {
                case .revisionMismatch(let now) where now.startedUSec == started.startedUSec && now.hasNotEnded:
                    revision = now.revision
                case .revisionMismatch, .wrongState, .noSuchCountdown: return
                default:
                    let name = CountdownText.name(started)
                    return output.warn("countdownctl: \(name): the failure still counts: \(error.sentence)")
                }
            }
        }
    }

    /// The call for the arguments.
    func request() throws(CommandFailure) -> Start {
        guard let key = try key.map({ word throws(CommandFailure) in try newKey(word) }) else {
            throw .usage("missing key; for example `countdownctl run backup 1d -- COMMAND`")
        }
        let typed = [key, positional].compactMap(\.self)
        if length == nil, TypedTiming.isMeant(by: typed) {
            let length = typed.joined(separator: " ")
            throw .usage("missing key; for example `countdownctl run backup \(length) -- COMMAND`")
        }
        guard !command.isEmpty else {
            let word = ShellWord.quote(key)
            throw .usage("missing command; for example `countdownctl run \(word) 1h -- COMMAND`")
        }
        if let wait { _ = try QueueTimeout.read(wait) }
        _ = try lossSignal()
        let (rate, cooldown) = (try typedRate(), try cooldown())
        return Start(
            key: key,
            durationUSec: rate?.interval ?? cooldown.map { terms($0).hold },
            ifRunning: wait != nil ? .wait : rate != nil ? .extend : .fail,
            label: label,
            metadata: wait != nil && rate == nil ? CooldownMark.ownMetadata() : CooldownMark.metadata,
            forget: forget ? true : nil,
            upToUSec: rate?.limit
        )
    }

    /// The rate that was typed.
    private func typedRate() throws(CommandFailure) -> Rate? {
        let read = try Rate.read(rate, duration: positional ?? length)
        if let rate, let from { throw .usage("--from \(from.rawValue) cannot be combined with \(Rate.option(rate))") }
        return read
    }

    private func lossSignal() throws(CommandFailure) -> Int32? {
        guard let onLost else { return nil }
        if let rate {
            throw .usage("--on-lost cannot be combined with \(Rate.option(rate)): a rate does not hold the key")
        }
        return try SignalName.read(onLost, of: "--on-lost")
    }

    private func terms(_ cooldown: Int64) -> CooldownHold.Terms {
        CooldownHold.Terms(cooldown: cooldown, origin: from ?? .start, keepsOnFailure: keepOnFailure)
    }

    /// The duration that was typed.
    private func cooldown() throws(CommandFailure) -> Int64? {
        guard positional == nil || length == nil else { throw .usage("use either DURATION or --for") }
        guard let text = positional ?? length else { return nil }
        let word = ShellWord.quote(key ?? "")
        return try TypedTiming.readLength(text) { "`countdownctl run \(word) \($0) -- COMMAND`" }
    }

    private func conflictStatus() throws(CommandFailure) -> ExitCode {
        guard let typed = conflictExitCode else { return .tryLater }
        guard let code = UInt8(typed) else {
            throw .usage("invalid --conflict-exit-code \(quoted(typed)): use 0 to 255")
        }
        return ExitCode(rawValue: Int32(code))
    }
}

extension CooldownHold.Origin: ExpressibleByArgument {}

extension BootTimer {
    /// A timer.
    ///
    /// - Throws: an internal error if the system refuses.
    static func orFailure() throws(CommandFailure) -> BootTimer {
        do {
            return try BootTimer()
        } catch {
            throw CommandFailure(.internalFault, "cannot make a timer: \(error)")
        }
    }
}
